# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # What common.sh reads and sets.
# The operator's machine: Prometheus with the metrics of every machine and service and alerts about them, and the
# operators' program. It also creates the topics, their access rights and the tables, which all other
# machines wait for.

install_tier() {
  install_program operator
  put_database_authority
  put_broker_authority
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
  [[ $BILLING_POSTGRES_OWN == true ]] || say "the database at $BILLING_POSTGRES is an existing one:" \
    "postgres/roles.sql must have been run there, with the passwords of $BILLING_SECRETS"
  [[ -n $BILLING_KAFKA_NODES ]] || say "the brokers at $BILLING_KAFKA are existing ones: they must have the" \
    "principals of kafka/access.txt and admin, with the passwords of $BILLING_SECRETS (SCRAM-SHA-512 over TLS)"
  retry make_tables
  retry make_topics
}

prometheus_settings() {
  local host tier port
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
  printf '  - job_name: billing\n    static_configs:\n'
  for host in ${BILLING_HOSTS//,/ }; do
    case $host in
      proxy-*) tier=proxy port=5080 ;;
      payment-backend-*) tier=payments port=5001 ;;
      balance-backend-*) tier=balances port=5001 ;;
      webhooks-*) tier=webhooks port=5001 ;;
      *) continue ;;
    esac
    printf '      - targets: ["%s:%s"]\n        labels: { tier: %s, machine: "%s" }\n' \
      "${host#*=}" "$port" "$tier" "${host%%=*}"
  done
}

# For operators: a folder for each role, in which to start /opt/billing/operator/Billing.Operator.
write_operator_settings() {
  local settings=()
  kafka_settings operator
  put_settings operator root
  settings=()
  kafka_settings admin
  put_settings admin root
}

# All databases at once: to one that it is given alone, `schema` gives the shards of a new store.
make_tables() {
  local name servers owner options=()
  while read -r name servers; do
    owner=$(postgres_connection owner "$servers")
    options+=(--postgres "$name:$owner")
  done < <(databases)
  /opt/billing/operator/Billing.Operator schema "${options[@]}" || return
  while read -r name servers; do
    grant_rights "$servers" || return
  done < <(databases)
}

# grant_rights SERVERS
grant_rights() {
  local password hosts IFS=,
  read -ra hosts <<<"$1"
  password=$(password postgres/owner)
  PGPASSWORD=$password PGTARGETSESSIONATTRS=read-write PGSSLMODE=verify-full PGSSLROOTCERT=$database_authority \
    psql -q -v ON_ERROR_STOP=1 -h "${hosts[*]%:*}" -p "${hosts[*]##*:}" \
    -U billing_owner -d billing -f "$BILLING_BOOTSTRAP/postgres/grants.sql"
}

make_topics() {
  local proxy options=()
  for proxy in $(proxies); do
    options+=(--proxy "$proxy")
  done
  env -C /etc/billing/admin /opt/billing/operator/Billing.Operator topics \
    --access "$BILLING_BOOTSTRAP/kafka/access.txt" "${options[@]}"
}
