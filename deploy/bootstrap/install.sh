#!/usr/bin/env bash
# Makes this machine what /etc/billing/host.env says, or brings it to the release that it names. May be run again at any time:
# what is as it should be is left alone, and a service is restarted only when something of it has changed.
set -euo pipefail
# A secret that cannot be read must not become an empty line of a file.
shopt -s inherit_errexit

BILLING_BOOTSTRAP=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)
# shellcheck source=deploy/bootstrap/common.sh
. "$BILLING_BOOTSTRAP/common.sh"

# Whatever folder it is called in, services' accounts may not enter.
cd /
((EUID == 0)) || die 'install.sh needs root'
load_settings /etc/billing/host.env
require_settings BILLING_NAME BILLING_TIER BILLING_ZONE BILLING_ADDRESS BILLING_VERSION BILLING_RELEASE BILLING_SECRETS \
  BILLING_KAFKA BILLING_POSTGRES BILLING_POSTGRES_OWN BILLING_PROXIES BILLING_HOSTS BILLING_NETWORK BILLING_PARTITIONS
tier="$BILLING_BOOTSTRAP/tiers/$BILLING_TIER.sh"
[[ -f $tier ]] || die "BILLING_TIER=$BILLING_TIER: there is no such tier, but $(tiers)"

# A second installation at the same time, by hand while the first boot is under way, waits.
exec 9>/run/billing-install.lock
flock 9

say "$BILLING_NAME becomes a $BILLING_TIER of release $BILLING_VERSION"
install_base
# shellcheck disable=SC1090 # One of the files beside, checked on its own.
. "$tier"
install_tier
say "$BILLING_NAME is a $BILLING_TIER of release $BILLING_VERSION"
