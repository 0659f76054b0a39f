# shellcheck shell=bash
# Folders for files that outlive a build: per user and shared by all clones, or in the repository where there is no
# usable home.

# prepare_folders: sets and exports BILLING_CACHE; makes HOME usable for dotnet, NuGet and npm.
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

# package_version ID: as in Directory.Packages.props, the only place for versions.
package_version() {
  local version
  version=$(sed -n "s/.*<PackageVersion Include=\"$1\" Version=\"\([^\"]*\)\".*/\1/p" \
    "$BILLING_ROOT/Directory.Packages.props")
  [[ -n $version ]] || die "Directory.Packages.props names no version of $1"
  printf '%s' "$version"
}
