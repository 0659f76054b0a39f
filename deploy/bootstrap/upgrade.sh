#!/usr/bin/env bash
# Brings this machine to another release, as root:
#   upgrade.sh VERSION SHA256 [FOLDER]
# SHA256 is the bootstrap archive's, FOLDER where the release's archives are (https://..., s3://..., file:///...); without it, the
# folder of the release before with the other version in its name. What fails leaves the machine as it was, but for host.env.
set -euo pipefail
shopt -s inherit_errexit

BILLING_BOOTSTRAP=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)
# shellcheck source=deploy/bootstrap/common.sh
. "$BILLING_BOOTSTRAP/common.sh"

# All of it is read before the archive takes the place of this file.
main() {
  local version="${1:-}" hash="${2:-}" work
  [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || die "VERSION: '$version' is no version such as 0.1.0"
  [[ $hash =~ ^[0-9a-f]{64}$ ]] || die "SHA256: '$hash' is not 64 hexadecimal digits"
  ((EUID == 0)) || die 'upgrade.sh needs root'
  load_settings /etc/billing/host.env
  BILLING_RELEASE=${3:-${BILLING_RELEASE//$BILLING_VERSION/$version}}
  work=$(mktemp -d)
  fetch "billing-bootstrap-$version.tar.gz" "$work/bootstrap.tar.gz"
  echo "$hash  $work/bootstrap.tar.gz" | sha256sum --check --quiet || die "the bootstrap archive in $BILLING_RELEASE is not the one with the SHA-256 $hash"
  sed -i -e "s|^BILLING_VERSION=.*|BILLING_VERSION='$version'|" -e "s|^BILLING_RELEASE=.*|BILLING_RELEASE='$BILLING_RELEASE'|" /etc/billing/host.env
  tar -xzf "$work/bootstrap.tar.gz" -C "$BILLING_BOOTSTRAP" --no-same-owner
  rm -rf -- "$work"
  exec bash "$BILLING_BOOTSTRAP/install.sh"
}

main "$@"
