# shellcheck shell=bash
# Programs this machine lacks. First everything needed is named, then it is installed in one go.

billing_missing=()
billing_reasons=()
billing_lists_fresh=
BILLING_AS_ROOT=()

# need_program PROGRAM PACKAGE WHY
need_program() {
  have "$1" || need_package "$2" "$3"
}

# need_file PATH PACKAGE WHY
need_file() {
  [[ -e $1 ]] || need_package "$2" "$3"
}

need_package() {
  billing_missing+=("$1")
  local reason
  for reason in "${billing_reasons[@]}"; do
    [[ $reason != "$2" ]] || return 0
  done
  billing_reasons+=("$2")
}

install_needed() {
  ((${#billing_missing[@]})) || return 0
  local packages=("${billing_missing[@]}") why
  why=$(printf ', %s' "${billing_reasons[@]}")
  billing_missing=()
  billing_reasons=()
  as_root_install "${why:2}" "${packages[@]}"
}

# as_root_install WHY PACKAGE...
as_root_install() {
  local why="$1"
  shift
  become_root "$why" "$@"
  say "installing $* ($why)"
  refresh_lists
  with_progress 'installing' "$BILLING_STATE/apt.log" \
    "${BILLING_AS_ROOT[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
    -o DPkg::Lock::Timeout=300 "$@" || die "could not install $*"
}

# become_root WHY PACKAGE...: sets BILLING_AS_ROOT, what to put before a command; stops where that takes a password.
become_root() {
  local why="$1"
  shift
  have apt-get || die "please install $* ($why): this machine has no apt-get to do it with"
  BILLING_AS_ROOT=()
  if ((EUID)); then
    sudo -n true 2>/dev/null ||
      die "missing: $* ($why). Please run: sudo apt-get install --no-install-recommends $*"
    BILLING_AS_ROOT=(sudo -n)
  fi
}

refresh_lists() {
  [[ -z $billing_lists_fresh ]] || return 0
  with_progress 'reading package lists' "$BILLING_STATE/apt.log" "${BILLING_AS_ROOT[@]}" apt-get update -q ||
    say 'the package lists may be out of date'
  billing_lists_fresh=yes
}
