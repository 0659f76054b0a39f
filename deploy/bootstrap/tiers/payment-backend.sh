# shellcheck shell=bash
# A payment backend; it serves its health at 5001.

# shellcheck source=deploy/bootstrap/backend.sh
. "$BILLING_BOOTSTRAP/backend.sh"

install_tier() { install_backend Payments payment-backend; }
