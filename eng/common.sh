# shellcheck shell=bash
# Functions for every step: messages, temporary folders that are always removed, and a progress display.

billing_temporary=()
billing_ticker=

say() { printf 'billing: %s\n' "$*" >&2; }

die() {
  say "$@"
  exit 1
}

# Programs here call each other at loopback addresses, which must not go through an internet proxy.
spare_loopback_the_proxy() {
  [[ -n ${http_proxy:-}${HTTP_PROXY:-}${https_proxy:-}${HTTPS_PROXY:-}${all_proxy:-}${ALL_PROXY:-} ]] || return 0
  no_proxy="${no_proxy:+$no_proxy,}${NO_PROXY:+$NO_PROXY,}127.0.0.1,localhost"
  NO_PROXY=$no_proxy
  export no_proxy NO_PROXY
}

have() { command -v "$1" >/dev/null 2>&1; }

# temporary_folder VARIABLE PARENT: created in the parent, on the same file system, so that a later mv is atomic.
temporary_folder() {
  local -n made="$1"
  made=$(mktemp -d "$2/.billing.XXXXXX")
  billing_temporary+=("$made")
}

clean_up() {
  stop_ticker
  if ((${#billing_temporary[@]})); then
    rm -rf -- "${billing_temporary[@]}"
    billing_temporary=()
  fi
}

stop_ticker() {
  if [[ -n $billing_ticker ]]; then
    kill "$billing_ticker" 2>/dev/null || true
    wait "$billing_ticker" 2>/dev/null || true
    billing_ticker=
    printf '\r\033[K' >&2
  fi
}

# with_progress LABEL LOG COMMAND...: runs the command with its output in LOG, and shows that when the command fails.
with_progress() {
  local label="$1" log="$2" status=0
  shift 2
  with_clock "$label" "$log" "$@" || status=$?
  if ((status)); then
    tail -n 40 -- "$log" >&2 || true
    say "$label: failed ($1 ended with $status)"
  fi
  return "$status"
}

# with_clock LABEL LOG COMMAND...: the same without a message on failure. The command stays in the foreground, so that
# Ctrl-C reaches it; only the clock runs beside it.
with_clock() {
  local label="$1" log="$2" status=0
  shift 2
  if [[ -t 2 ]]; then
    tick "$label" &
    billing_ticker=$!
  else
    say "$label ..."
  fi
  "$@" >>"$log" 2>&1 || status=$?
  stop_ticker
  return "$status"
}

# The clock ends with the script, even if the script is killed.
tick() {
  local started=$SECONDS
  while kill -0 "$$" 2>/dev/null; do
    printf '\r\033[Kbilling: %s ... %d s' "$1" "$((SECONDS - started))" >&2
    sleep 1
  done
}

# locked FILE COMMAND...: one process at a time. The lock ends with its holder, whatever ends it.
locked() {
  local lock="$1"
  shift
  exec 9>"$lock"
  if ! flock -n 9; then
    say "waiting for another ./billing that is busy with $(basename -- "${lock%.lock}")"
    flock 9
  fi
  "$@"
  exec 9>&-
}

# replace_if_changed NEW OLD: a file with the same content keeps its modification time.
replace_if_changed() {
  if cmp -s -- "$1" "$2"; then rm -f -- "$1"; else mv -- "$1" "$2"; fi
}
