#!/usr/bin/env bash
# Starts a broker or the database in a container (deploy/containers), as install.sh and the systemd units do on a
# machine, with the same settings: container.sh kafka | postgres
set -euo pipefail

BILLING_BOOTSTRAP=$(cd -- "$(dirname -- "$(readlink -f -- "$0")")" && pwd)
# shellcheck source=deploy/bootstrap/common.sh
. "$BILLING_BOOTSTRAP/common.sh"
# shellcheck source=deploy/bootstrap/tiers/kafka.sh
. "$BILLING_BOOTSTRAP/tiers/kafka.sh"

run_kafka() {
  # shellcheck disable=SC2034 # What kafka.sh reads.
  kafka_settings_file=/tmp/server.properties kafka_protocol=SASL_PLAINTEXT
  # Its passwords are in it.
  (umask 077 && kafka_properties >"$kafka_settings_file")
  [[ -f /var/lib/billing-kafka/meta.properties ]] || format_storage
  exec java -Xms256m -Xmx256m -XX:+UseSerialGC -XX:MaxDirectMemorySize=64m -XX:+ExitOnOutOfMemoryError \
    "-Dlog4j2.configurationFile=$BILLING_BOOTSTRAP/kafka/log4j2.properties" \
    -cp '/opt/billing/kafka/libs/*' kafka.Kafka "$kafka_settings_file"
}

# The server's files are complete as soon as they have their name.
run_postgres() {
  local data=/var/lib/billing-postgres/15 password
  PATH=/usr/lib/postgresql/15/bin:$PATH
  if [[ ! -d $data ]]; then
    password=$(</run/secrets/postgres)
    rm -rf -- "$data.new"
    initdb --pgdata "$data.new" --username billing \
      --pwfile <(printf '%s' "${password##*Password=}") --auth scram-sha-256 \
      --encoding UTF8 --locale C.UTF-8
    echo 'host all all all scram-sha-256' >>"$data.new/pg_hba.conf"
    postgres --single -D "$data.new" postgres <<<'create database billing'
    mv -T -- "$data.new" "$data"
  fi
  exec postgres -D "$data" -c listen_addresses='*' -c unix_socket_directories=/tmp \
    -c max_connections=200 -c shared_buffers=256MB \
    -c wal_compression=lz4
}

case ${1:-} in
  kafka | postgres) "run_$1" ;;
  *) die 'usage: container.sh kafka | postgres' ;;
esac
