#!/usr/bin/env bash
# Upgrades this machine to another release, as root:
#   upgrade.sh VERSION SHA256 [FOLDER]
# SHA256 is that of the bootstrap archive, FOLDER the location of the release's archives (https://..., s3://...,
# file:///...); by default, the folder of the previous release with the new version in its name. A failure leaves the
# machine unchanged, except host.env.
set -euo pipefail
shopt -s inherit_errexit

BILLING_BOOTSTRAP=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)
# shellcheck source=deploy/bootstrap/common.sh
. "$BILLING_BOOTSTRAP/common.sh"

# In a function, so that the shell has read all of it before the archive replaces this file.
main() {
  local version="${1:-}" hash="${2:-}" work
  [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || die "VERSION: '$version' must look like 1.0.0"
  [[ $hash =~ ^[0-9a-f]{64}$ ]] || die "SHA256: '$hash' must be 64 hexadecimal digits"
  ((EUID == 0)) || die 'upgrade.sh needs root'
  load_settings /etc/billing/host.env
  BILLING_RELEASE=${3:-${BILLING_RELEASE//$BILLING_VERSION/$version}}
  work=$(mktemp -d)
  fetch "billing-bootstrap-$version.tar.gz" "$work/bootstrap.tar.gz"
  echo "$hash  $work/bootstrap.tar.gz" | sha256sum --check --quiet ||
    die "the bootstrap archive in $BILLING_RELEASE does not have the SHA-256 $hash"
  set_variable BILLING_VERSION "$version"
  set_variable BILLING_RELEASE "$BILLING_RELEASE"
  tar -xzf "$work/bootstrap.tar.gz" -C "$BILLING_BOOTSTRAP" --no-same-owner
  rm -rf -- "$work"
  exec bash "$BILLING_BOOTSTRAP/install.sh"
}

main "$@"
