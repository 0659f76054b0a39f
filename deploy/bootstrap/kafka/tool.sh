#!/usr/bin/env bash
# Kafka's own tools on this broker, as the administrator; as root:
#   billing-kafka topics --describe
#   billing-kafka consumer-groups --describe --group billing-payments
set -euo pipefail

case ${1:-} in
  acls) class=org.apache.kafka.tools.AclCommand ;;
  broker-api-versions) class=org.apache.kafka.tools.BrokerApiVersionsCommand ;;
  configs) class=kafka.admin.ConfigCommand ;;
  consumer-groups) class=org.apache.kafka.tools.consumer.group.ConsumerGroupCommand ;;
  leader-election) class=org.apache.kafka.tools.LeaderElectionCommand ;;
  metadata-quorum) class=org.apache.kafka.tools.MetadataQuorumCommand ;;
  reassign-partitions) class=org.apache.kafka.tools.reassign.ReassignPartitionsCommand ;;
  topics) class=org.apache.kafka.tools.TopicCommand ;;
  *)
    echo 'usage: billing-kafka acls|broker-api-versions|configs|consumer-groups|leader-election|metadata-quorum|reassign-partitions|topics ARGUMENT...' >&2
    exit 2
    ;;
esac
shift
address=$(sed -nE 's|^listeners=CLIENT://([^,]+),.*|\1|p' /etc/billing/kafka/server.properties)
settings=--command-config
[[ $class != *LeaderElectionCommand ]] || settings=--admin.config
exec java -Xmx96m -XX:TieredStopAtLevel=1 -cp '/opt/billing/kafka/libs/*' "$class" --bootstrap-server "$address" \
  "$settings" /etc/billing/kafka/admin.properties "$@"
