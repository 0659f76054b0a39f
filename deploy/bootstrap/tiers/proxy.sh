# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # What common.sh reads and sets.
# A proxy: gRPC at 5000, REST and the load balancer's health check at 5080, and for operators an admin address at 5090,
# with metrics.

# Its key and its certificate, and the key set with which it verifies tokens. It takes new ones without a restart.
proxy_certificate=$settings_folder/tls/proxy.pem
token_keys=$settings_folder/tls/tokens.json

install_tier() {
  install_program proxy
  put_broker_authority
  local settings scheme=https
  if [[ $BILLING_INSECURE == true ]]; then
    scheme=http
    settings=(Billing:Insecure true)
  else
    settings=()
    caller_settings
  fi
  settings+=(Urls "$scheme://$BILLING_ADDRESS:5000" Billing:Rest:Url "$scheme://$BILLING_ADDRESS:5080"
    Billing:Admin:Url "$scheme://$BILLING_ADDRESS:5090"
    # It is a user of the brokers of its own, as which it reaches no other proxy's answers.
    Billing:Kafka:ProxyName "$BILLING_NAME")
  kafka_settings "$BILLING_NAME"
  put_settings proxy billing
  run_service billing-proxy.service
  wait_until_ready "$scheme://$BILLING_ADDRESS:5080/health/ready" billing-proxy.service "$proxy_certificate"
}

# caller_settings: adds the settings for TLS and tokens.
caller_settings() {
  local certificate keys before=$changed
  certificate=$(pem tls/proxy)
  openssl x509 -noout -checkip "$BILLING_ADDRESS" <<<"$certificate" | grep -q 'does match' ||
    die "the certificate tls/proxy in $BILLING_SECRETS does not name $BILLING_ADDRESS: see secrets.sh --network"
  put_file "$proxy_certificate" root:billing 640 <<<"$certificate"
  settings+=(Billing:Tls:CertificateFile "$proxy_certificate" Billing:Auth:Audience "$BILLING_TOKEN_AUDIENCE")
  [[ -z $BILLING_TOKEN_ISSUER ]] || settings+=(Billing:Auth:Issuer "$BILLING_TOKEN_ISSUER")
  if [[ -n $BILLING_TOKEN_AUTHORITY ]]; then
    settings+=(Billing:Auth:Authority "$BILLING_TOKEN_AUTHORITY")
  else
    keys=$(stored tokens/jwks)
    [[ $keys == *'"keys"'* ]] || die "the secret tokens/jwks in $BILLING_SECRETS must be a key set in JSON (RFC 7517)"
    put_file "$token_keys" root:billing 640 <<<"$keys"
    settings+=(Billing:Auth:JwksFile "$token_keys")
  fi
  changed=$before
}
