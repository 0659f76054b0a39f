#!/usr/bin/env bash
# Changes variables in this machine's /etc/billing/host.env, such as those about other machines when some were added,
# and installs it again, as root:
#   configure.sh NAME=VALUE...
set -euo pipefail

BILLING_BOOTSTRAP=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)
# shellcheck source=deploy/bootstrap/common.sh
. "$BILLING_BOOTSTRAP/common.sh"

((EUID == 0)) || die 'configure.sh needs root'
(($#)) ||
  die "usage: configure.sh NAME=VALUE..., such as BILLING_POSTGRES='billing=10.20.0.21:5432 two=10.20.1.22:5432'"
for variable in "$@"; do
  # The file is read by shells and by systemd.
  [[ $variable =~ ^BILLING_[A-Z_]+=[A-Za-z0-9._:/,@=\ -]*$ ]] ||
    die "'$variable' must be BILLING_NAME=VALUE, of letters, digits, spaces and . _ : / , @ = -"
done
for variable in "$@"; do
  set_variable "${variable%%=*}" "${variable#*=}"
done
exec bash "$BILLING_BOOTSTRAP/install.sh"
