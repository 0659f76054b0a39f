# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # What common.sh reads and sets.
# A proxy: gRPC at 5000, REST and the load balancer's health check at 5080.

install_tier() {
  install_program proxy
  put_broker_authority
  local settings=(Urls "http://$BILLING_ADDRESS:5000" Billing:Rest:Url "http://$BILLING_ADDRESS:5080"
    # The load balancer and the security groups decide which callers have access.
    Billing:Insecure true
    # It is a user of the brokers of its own, as which it reaches no other proxy's answers.
    Billing:Kafka:ProxyName "$BILLING_NAME")
  kafka_settings "$BILLING_NAME"
  put_settings proxy billing
  run_service billing-proxy.service
  wait_until_ready "http://$BILLING_ADDRESS:5080/health/ready" billing-proxy.service
}
