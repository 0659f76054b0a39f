# shellcheck shell=bash
# shellcheck disable=SC2034 # What common.sh reads.
# What payment and balance backends have in common: all but the role.

# install_backend ROLE PRINCIPAL
install_backend() {
  local store settings
  install_program backend
  store=$(postgres_connection backend)
  settings=(
    Urls "http://$BILLING_ADDRESS:5001"
    Billing:Backend:Role "$1"
    Billing:EventStore:ConnectionString "$store"
  )
  kafka_settings "$2"
  put_settings backend billing
  run_service billing-backend.service
  wait_until_ready "http://$BILLING_ADDRESS:5001/health/ready" billing-backend.service
}
