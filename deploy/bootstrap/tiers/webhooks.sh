# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # What common.sh reads and sets.
# The service that sends events to receivers; it serves its health at 5001. Several share the work.

# shellcheck source=deploy/bootstrap/backend.sh
. "$BILLING_BOOTSTRAP/backend.sh"

install_tier() {
  require_settings BILLING_WEBHOOKS
  end_silent_connections
  install_program webhooks
  # For the operator: webhooks list, replay and drop.
  install_program operator
  put_database_authority
  put_broker_authority
  local settings
  webhook_settings
  kafka_settings webhooks
  put_settings webhooks billing
  run_service billing-webhooks.service
  wait_until_ready "http://$BILLING_ADDRESS:5001/health/ready" billing-webhooks.service
}

# Each item of BILLING_WEBHOOKS is a setting below Billing:Webhooks and its value. The secret of a receiver has the
# receiver's name. What is not delivered is kept in the first database.
webhook_settings() {
  local item receiver name servers value
  read -r name servers < <(databases)
  value=$(postgres_connection webhooks "$servers")
  settings=(Urls "http://$BILLING_ADDRESS:5001" Billing:Webhooks:ConnectionString "$value")
  for item in $BILLING_WEBHOOKS; do
    settings+=("Billing:Webhooks:${item%%=*}" "${item#*=}")
    if [[ $item == Receivers:*:Url=* ]]; then
      receiver=${item#Receivers:}
      receiver=${receiver%%:*}
      value=$(secret "webhooks/$receiver")
      settings+=("Billing:Webhooks:Receivers:$receiver:Secret" "$value")
    fi
  done
}
