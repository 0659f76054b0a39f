# shellcheck shell=bash
# Functions for every step: help, the SDK, folders, messages, and a progress display.

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

# print_help ARGUMENT...: prints the list of commands if that is requested, and refuses a command that does not exist:
# both without a build. eng/help.txt has a copy of the programs' own list.
print_help() {
  (($#)) || {
    cat -- "$BILLING_ROOT/eng/help.txt"
    die 'a command is missing'
  }
  ! is_help "$1" || {
    cat -- "$BILLING_ROOT/eng/help.txt"
    exit 0
  }
  [[ $1 == -* ]] || grep -q -- "^  $1 " "$BILLING_ROOT/eng/help.txt" ||
    die "there is no command '$1'; ./billing --help lists them"
}

is_help() { [[ $1 == -h || $1 == -\? || $1 == --help ]]; }

# prepare_folders: sets and exports BILLING_CACHE, the folder shared by all clones of a user, and makes HOME usable for
# dotnet, NuGet and npm; sets BILLING_STATE, the folder for what is kept for this clone.
prepare_folders() {
  BILLING_STATE="$BILLING_ROOT/.billing"
  can_make "$BILLING_STATE" || die "cannot write to $BILLING_STATE: ./billing builds inside the repository"
  if [[ -z ${HOME:-} ]] || [[ ! -d $HOME || ! -w $HOME ]]; then
    export HOME="$BILLING_STATE/home" DOTNET_CLI_HOME="$BILLING_STATE/home"
    mkdir -p -- "$HOME"
    : "${BILLING_CACHE:=${XDG_CACHE_HOME:+$XDG_CACHE_HOME/billing}}"
    : "${BILLING_CACHE:=$BILLING_STATE/cache}"
  fi
  : "${BILLING_CACHE:=${XDG_CACHE_HOME:-$HOME/.cache}/billing}"
  can_make "$BILLING_CACHE" || die "cannot write to the cache $BILLING_CACHE"
  BILLING_CACHE=$(cd -- "$BILLING_CACHE" && pwd)
  export BILLING_CACHE
}

can_make() { mkdir -p -- "$1" 2>/dev/null && [[ -w $1 ]]; }

# need_programs: stops if this machine lacks what the scripts and the programs use everywhere, and sets BILLING_SDK,
# the version that global.json selects (dotnet searches for it from the current folder upwards).
need_programs() {
  local program missing=()
  for program in flock setpriv setsid find tar; do have "$program" || missing+=("$program"); done
  ((${#missing[@]} == 0)) || die "missing: $(listed "${missing[@]}"); please install util-linux, findutils and tar"
  have dotnet || install_sdk
  BILLING_SDK=$(env -C "$BILLING_ROOT" dotnet --version 2>&1) || die "no suitable .NET SDK: $BILLING_SDK"
}

# install_sdk: installs it where the system's packages have it and that requires no password.
install_sdk() {
  local as_root=()
  ((EUID == 0)) || as_root=(sudo -n)
  if have apt-get && "${as_root[@]}" true 2>/dev/null; then
    say 'installing dotnet-sdk-10.0 (to build and run)'
    { with_progress 'reading package lists' "$BILLING_STATE/apt.log" "${as_root[@]}" apt-get update -q &&
      with_progress 'installing' "$BILLING_STATE/apt.log" \
        "${as_root[@]}" apt-get install -q -y --no-install-recommends dotnet-sdk-10.0; } || true
  fi
  have dotnet || die './billing needs the .NET SDK 10: https://learn.microsoft.com/dotnet/core/install/linux'
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
# The command stays in the foreground, so that Ctrl-C reaches it; only the clock runs beside it.
with_progress() {
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
  if ((status)); then
    tail -n 40 -- "$log" >&2 || true
    say "$label: failed ($1 ended with $status)"
  fi
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

# replace_if_changed FILE: writes standard input to the file; one with the same content keeps its modification time.
# Another ./billing may do so at the same time.
replace_if_changed() {
  local new="$1.$BASHPID"
  cat >"$new"
  if cmp -s -- "$new" "$1"; then rm -f -- "$new"; else mv -- "$new" "$1"; fi
}
