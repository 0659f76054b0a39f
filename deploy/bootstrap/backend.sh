# shellcheck shell=bash
# shellcheck disable=SC2034 # What common.sh reads.
# The installation that payment and balance backends share; they differ in the role only.

# A connection to a machine that is gone breaks after five or six seconds, whether it waits or sends (the fifth time-out
# of 200 ms, each twice the last), instead of fifteen minutes: the program then looks for another primary.
end_silent_connections() {
  put_file /etc/sysctl.d/billing.conf root:root 644 <<<$'net.ipv4.tcp_retries2 = 3\nnet.ipv4.tcp_keepalive_probes = 3'
  sysctl -q -p /etc/sysctl.d/billing.conf
}

# install_backend ROLE PRINCIPAL
install_backend() {
  local name servers store secret settings limit
  end_silent_connections
  install_program backend
  put_database_authority
  put_broker_authority
  settings=(Urls "http://$BILLING_ADDRESS:5001" Billing:Backend:Role "$1")
  while read -r name servers; do
    store=$(postgres_connection backend "$servers")
    settings+=("Billing:EventStore:Databases:$name" "$store")
  done < <(databases)
  for limit in ${BILLING_OPENING_LIMITS:-}; do
    settings+=("Billing:Backend:OpeningLimits:${limit%%=*}" "${limit#*=}")
  done
  secret=$(secret postgres/backend)
  former_password_settings Billing:EventStore "$secret"
  kafka_settings "$2"
  put_settings backend billing
  run_service billing-backend.service
  wait_until_ready "http://$BILLING_ADDRESS:5001/health/ready" billing-backend.service
}
