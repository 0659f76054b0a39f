# shellcheck shell=bash
# A load-generating client: /opt/billing/client/Billing.Driver, started manually.

install_tier() {
  install_program client
  put_proxy_authority
}
