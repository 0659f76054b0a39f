#!/usr/bin/env bash
# Kafka's own tools on this broker, as the administrator; as root:
#   billing-kafka topics --describe
#   billing-kafka consumer-groups --describe --group billing-payments
#   billing-kafka spread 1,2,3,4        distributes the platform's topics over these brokers, and waits for completion
#   billing-kafka accounts              gives the accounts of all programs the passwords of BILLING_SECRETS
set -euo pipefail

# spread BROKERS
spread() {
  [[ ${1:-} =~ ^[0-9]+(,[0-9]+)+$ ]] || usage
  local folder topic separator=''
  folder=$(mktemp -d)
  # shellcheck disable=SC2064 # Expanded now: the variable does not exist after this function.
  trap "rm -rf -- '$folder'" EXIT
  {
    printf '{"version":1,"topics":['
    for topic in $("$0" topics --list | grep '^billing\.' | grep -v '^billing\.replies\.'); do
      printf '%s{"topic":"%s"}' "$separator" "$topic"
      separator=,
    done
    printf ']}\n'
  } >"$folder/topics.json"
  "$0" reassign-partitions --topics-to-move-json-file "$folder/topics.json" --broker-list "$1" --generate |
    sed -n '/^Proposed partition/,$p' | grep '^{' >"$folder/plan.json"
  "$0" reassign-partitions --reassignment-json-file "$folder/plan.json" --execute >/dev/null
  while "$0" reassign-partitions --reassignment-json-file "$folder/plan.json" --verify >"$folder/state" &&
    grep -q 'still in progress' "$folder/state"; do
    sleep 2
  done
  echo "the topics of the platform are distributed over brokers $1"
}

# Whoever is connected remains connected. The administrator's comes last: this tool uses it.
accounts() {
  local principal password file
  # shellcheck source=deploy/bootstrap/common.sh
  . /opt/billing/bootstrap/common.sh
  load_settings /etc/billing/host.env
  file=$(mktemp)
  # shellcheck disable=SC2064 # Expanded now: the variable does not exist after this function.
  trap "rm -f -- '$file'" EXIT
  for principal in $(kafka_principals); do
    password=$(password "kafka/$principal")
    printf 'SCRAM-SHA-512=password=%s\n' "$password" >"$file"
    # A busy broker may not answer in time; the same account may be written again.
    retry "$0" configs --alter --entity-type users --entity-name "$principal" --add-config-file "$file"
  done
}

usage() {
  echo 'usage: billing-kafka acls|broker-api-versions|configs|consumer-groups|leader-election|metadata-quorum|' \
    'reassign-partitions|topics ARGUMENT... | spread BROKER,... | accounts' >&2
  exit 2
}

case ${1:-} in
  acls) class=org.apache.kafka.tools.AclCommand ;;
  broker-api-versions) class=org.apache.kafka.tools.BrokerApiVersionsCommand ;;
  configs) class=kafka.admin.ConfigCommand ;;
  consumer-groups) class=org.apache.kafka.tools.consumer.group.ConsumerGroupCommand ;;
  leader-election) class=org.apache.kafka.tools.LeaderElectionCommand ;;
  metadata-quorum) class=org.apache.kafka.tools.MetadataQuorumCommand ;;
  reassign-partitions) class=org.apache.kafka.tools.reassign.ReassignPartitionsCommand ;;
  topics) class=org.apache.kafka.tools.TopicCommand ;;
  spread)
    spread "${2:-}"
    exit
    ;;
  accounts)
    accounts
    exit
    ;;
  *) usage ;;
esac
shift
address=$(sed -nE 's|^listeners=CLIENT://([^,]+),.*|\1|p' /etc/billing/kafka/server.properties)
option=--command-config
[[ $class != *LeaderElectionCommand ]] || option=--admin.config
exec java -Xmx96m -XX:TieredStopAtLevel=1 -cp '/opt/billing/kafka/libs/*' "$class" \
  --bootstrap-server "$address" "$option" /etc/billing/kafka/admin.properties "$@"
