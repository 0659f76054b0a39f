# shellcheck shell=bash
# A load-generating client: /opt/billing/client/Billing.Client, started by hand.

install_tier() {
  install_program client
}
