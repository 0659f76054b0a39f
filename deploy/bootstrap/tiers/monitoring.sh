# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # What common.sh reads and sets.
# The operator's machine: Prometheus with the metrics of every machine and service and alerts about them, and the
# operators' program. It reads: what changes topics, rights or tables is made where those who may do it are.

install_tier() {
  install_program operator
  put_database_authority
  put_broker_authority
  put_proxy_authority
  need_packages prometheus postgresql-client
  local arguments='--web.listen-address=127.0.0.1:9090'
  arguments+=' --storage.tsdb.retention.time=15d --storage.tsdb.retention.size=2GB'
  put_file /etc/default/prometheus root:root 644 <<<"ARGS=\"$arguments\""
  local settings
  settings=$(prometheus_settings)
  put_file /etc/prometheus/prometheus.yml root:root 644 <<<"$settings"
  put_file /etc/prometheus/billing-alerts.yml root:root 644 <"$BILLING_BOOTSTRAP/monitoring/alerts.yml"
  put_file /etc/prometheus/billing-service-alerts.yml root:root 644 <"$BILLING_BOOTSTRAP/monitoring/rules/alerts.yml"
  put_file /etc/prometheus/billing-service-recording.yml root:root 644 \
    <"$BILLING_BOOTSTRAP/monitoring/rules/recording.yml"
  systemctl enable --quiet prometheus
  if ((changed)); then
    systemctl restart prometheus
  fi
  write_operator_settings
}

prometheus_settings() {
  local host tier port scheme proxies=https
  [[ $BILLING_INSECURE == false ]] || proxies=http
  cat <<END
global:
  scrape_interval: 15s
  evaluation_interval: 15s
rule_files: [billing-*.yml]
scrape_configs:
  - job_name: machines
    static_configs:
END
  for host in ${BILLING_HOSTS//,/ }; do
    printf '      - targets: ["%s:9100"]\n        labels: { machine: "%s" }\n' "${host#*=}" "${host%%=*}"
  done
  printf '  - job_name: billing\n    tls_config: { ca_file: %s }\n    static_configs:\n' "$proxy_authority"
  for host in ${BILLING_HOSTS//,/ }; do
    case $host in
      # At the address for operators, which callers do not reach.
      proxy-*) tier=proxy port=5090 scheme=$proxies ;;
      payment-backend-*) tier=payments port=5001 scheme=http ;;
      balance-backend-*) tier=balances port=5001 scheme=http ;;
      webhooks-*) tier=webhooks port=5001 scheme=http ;;
      *) continue ;;
    esac
    printf '      - targets: ["%s:%s"]\n        labels: { tier: %s, machine: "%s", __scheme__: %s }\n' \
      "${host#*=}" "$port" "$tier" "${host%%=*}" "$scheme"
  done
}

# For operators: the folder in which to start /opt/billing/operator/Billing.Operator.
write_operator_settings() {
  local settings=()
  kafka_settings operator
  put_settings operator root
}
