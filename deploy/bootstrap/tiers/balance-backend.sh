# shellcheck shell=bash
# A balance backend; its health is told at 5001.

# shellcheck source=deploy/bootstrap/backend.sh
. "$BILLING_BOOTSTRAP/backend.sh"

install_tier() { install_backend Balances balance-backend; }
