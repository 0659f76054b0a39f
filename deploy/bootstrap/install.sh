#!/usr/bin/env bash
# Installs the tier and the release in /etc/billing/host.env on this machine, or upgrades it to that release. It may run
# again at any time: it only changes what differs, and restarts a service only if one of its files has changed.
set -euo pipefail
# A secret that cannot be read must not become an empty line in a file.
shopt -s inherit_errexit

BILLING_BOOTSTRAP=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)
# shellcheck source=deploy/bootstrap/common.sh
. "$BILLING_BOOTSTRAP/common.sh"
# shellcheck source=deploy/bootstrap/etcd.sh
. "$BILLING_BOOTSTRAP/etcd.sh"

# The services' accounts may not be allowed to enter the folder in which this is called.
cd /
((EUID == 0)) || die 'install.sh needs root'
load_settings /etc/billing/host.env
require_settings BILLING_NAME BILLING_TIER BILLING_ZONE BILLING_ADDRESS BILLING_VERSION BILLING_RELEASE \
  BILLING_SECRETS \
  BILLING_KAFKA BILLING_POSTGRES BILLING_POSTGRES_OWN BILLING_PROXIES BILLING_HOSTS BILLING_NETWORK \
  BILLING_PARTITIONS BILLING_INSECURE BILLING_TOKEN_AUDIENCE
tier="$BILLING_BOOTSTRAP/tiers/$BILLING_TIER.sh"
[[ -f $tier ]] || die "BILLING_TIER=$BILLING_TIER: unknown tier; the tiers are $(tiers)"

[[ $BILLING_INSECURE =~ ^(true|false)$ ]] || die "BILLING_INSECURE=$BILLING_INSECURE: must be true or false"
[[ $BILLING_INSECURE == false ]] ||
  say 'BILLING_INSECURE=true: proxies have neither TLS nor tokens; whoever reaches one may do everything'

# A second installation at the same time, started manually during the first boot, waits.
exec 9>/run/billing-install.lock
flock 9

say "installing $BILLING_TIER of release $BILLING_VERSION on $BILLING_NAME"
install_base
install_etcd
# shellcheck disable=SC1090 # One of the files in tiers/, which are checked separately.
. "$tier"
install_tier
say "installed $BILLING_TIER of release $BILLING_VERSION on $BILLING_NAME"
