# shellcheck shell=bash
# Programs that this machine lacks. Everything that a command needs is recorded first and then installed at once, if no password
# is required; otherwise one message lists what is missing, with one command that installs it.

# Names of packages are Debian's; package_here knows those of other systems.
needed_packages=()
needed_whats=()
needed_whys=()
package_lists_fresh=
# Tests set this to a folder with files of another system.
system_root=${BILLING_SYSTEM_ROOT:-}
postgres_setting=/etc/postgresql-common/createcluster.d/billing.conf
postgres_setting_made=
BILLING_AS_ROOT=()

# need_program PROGRAM PACKAGE WHY
need_program() { have "$1" || need "$1" "$2" "$3"; }

# need WHAT PACKAGE WHY: WHAT is the program's usual name, empty if that is the package's name. PACKAGE may be empty.
need() {
  needed_whats+=("${1:-$(package_here "$2")}")
  needed_packages+=("$2")
  needed_whys+=("$3")
}

# Basic programs that the scripts use; some container images lack them.
need_basics() {
  local program
  for program in flock setpriv setsid; do need_program "$program" util-linux 'to start and watch processes'; done
  need_program find findutils 'to detect changed files'
  need_program tar tar 'to unpack archives'
}

# system_family: debian, fedora or arch, which determines package names and the installer; otherwise nothing.
system_family() {
  local family ID='' ID_LIKE=''
  if [[ -r $system_root/etc/os-release ]]; then
    # shellcheck source=/dev/null
    . "$system_root/etc/os-release"
  fi
  for family in $ID $ID_LIKE; do
    case $family in
      debian | ubuntu) printf debian ;;
      fedora | rhel | centos) printf fedora ;;
      arch) printf arch ;;
      *) continue ;;
    esac
    return
  done
}

# package_here PACKAGE: its name on this system.
package_here() {
  case $(system_family):$1 in
    fedora:postgresql) printf postgresql-server ;;
    fedora:default-jre-headless) printf java-latest-openjdk-headless ;;
    fedora:xz-utils) printf xz ;;
    arch:default-jre-headless) printf jre-openjdk-headless ;;
    arch:xz-utils) printf xz ;;
    arch:dotnet-sdk-10.0) printf 'dotnet-sdk aspnet-runtime' ;;
    *) printf '%s' "$1" ;;
  esac
}

# settle_needs COMMAND: installs what was found to be missing, or stops.
settle_needs() {
  ((${#needed_whats[@]})) || return 0
  local packages=() without_package='' index
  for index in "${!needed_packages[@]}"; do
    if [[ -n ${needed_packages[index]} ]]; then packages+=("${needed_packages[index]}"); else without_package=yes; fi
  done
  if [[ -n $without_package ]] || ! can_install; then
    refuse_for_needs "$1"
  fi
  mapfile -t packages < <(printf '%s\n' "${packages[@]}" | awk '!seen[$0]++')
  install_packages "$(reasons | paste -s -d , | sed 's/,/, /g')" "${packages[@]}"
  needed_packages=() needed_whats=() needed_whys=()
}

# Each reason once, one per line, in the order of the needs.
reasons() { printf '%s\n' "${needed_whys[@]}" | awk '!seen[$0]++'; }

# can_install: sets BILLING_AS_ROOT, the prefix for commands that need root.
can_install() {
  [[ $(system_family) == debian ]] && have apt-get || return 1
  BILLING_AS_ROOT=()
  if ((EUID)); then
    have sudo && sudo -n true 2>/dev/null || return 1
    BILLING_AS_ROOT=(sudo -n)
  fi
}

# refuse_for_needs COMMAND
refuse_for_needs() {
  local text="./billing $1 needs programs that this machine lacks:" why install
  while read -r why; do
    text+=$'\n'"  $why: $(lacking_for "$why")"
  done < <(reasons)
  install=$(install_command)
  [[ -z $install ]] || text+=$'\n'"please run: $install"
  die "$text"
}

# lacking_for WHY: what is missing for this purpose.
lacking_for() {
  local index whats=()
  for index in "${!needed_whys[@]}"; do
    [[ ${needed_whys[index]} != "$1" ]] || whats+=("${needed_whats[index]}")
  done
  listed "${whats[@]}"
}

# install_command: one command for the user to run; nothing if there are no packages, or the system's installer is not known.
install_command() {
  local index names=() root='sudo ' packages
  for index in "${!needed_packages[@]}"; do
    [[ -z ${needed_packages[index]} ]] || names+=("$(package_here "${needed_packages[index]}")")
  done
  ((${#names[@]})) || return 0
  ((EUID)) || root=
  packages=$(printf '%s\n' "${names[@]}" | tr ' ' '\n' | awk '!seen[$0]++' | paste -s -d ' ')
  case $(system_family) in
    debian) debian_command "$root" "$packages" ;;
    fedora) printf '%sdnf install %s' "$root" "$packages" ;;
    arch) printf '%spacman -S --needed %s' "$root" "$packages" ;;
  esac
}

# debian_command ROOT PACKAGES: there, installing PostgreSQL creates and starts a system cluster, unless a setting prevents it.
debian_command() {
  local install="apt-get update; apt-get install -y --no-install-recommends $2"
  if [[ " $2 " == *' postgresql '* ]]; then
    install="mkdir -p ${postgres_setting%/*}; echo create_main_cluster=false >$postgres_setting; $install; rm $postgres_setting"
  fi
  printf "%ssh -c '%s'" "$1" "$install"
}

# as_root_install WHY PACKAGE...: installs optional packages; false, with a message, if that requires a password.
as_root_install() {
  local why="$1"
  shift
  can_install || {
    say "missing: $* ($why)"
    return 1
  }
  install_packages "$why" "$@"
}

# install_packages WHY PACKAGE...
install_packages() {
  local why="$1"
  shift
  say "installing $* ($why)"
  refresh_lists
  [[ " $* " != *' postgresql '* ]] || make_postgres_setting
  with_progress 'installing' "$BILLING_STATE/apt.log" \
    "${BILLING_AS_ROOT[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
    -o DPkg::Lock::Timeout=300 "$@" || die "could not install $*"
  forget_postgres_setting
}

refresh_lists() {
  [[ -z $package_lists_fresh ]] || return 0
  with_progress 'reading package lists' "$BILLING_STATE/apt.log" "${BILLING_AS_ROOT[@]}" apt-get update -q ||
    say 'the package lists may be out of date'
  package_lists_fresh=yes
}

# Debian's package creates and starts a system cluster, unless this setting exists during the installation.
make_postgres_setting() {
  postgres_setting_made=yes
  "${BILLING_AS_ROOT[@]}" mkdir -p "$system_root${postgres_setting%/*}"
  echo 'create_main_cluster = false' | "${BILLING_AS_ROOT[@]}" tee "$system_root$postgres_setting" >/dev/null
}

# Also part of the clean-up, for an installation that is interrupted.
forget_postgres_setting() {
  if [[ -n $postgres_setting_made ]]; then
    "${BILLING_AS_ROOT[@]}" rm -f "$system_root$postgres_setting"
    "${BILLING_AS_ROOT[@]}" rmdir --ignore-fail-on-non-empty "$system_root${postgres_setting%/*}"
    postgres_setting_made=
  fi
}
