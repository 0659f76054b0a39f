# The allowed connections and their ports. The security groups and the rehearsal's firewall are created from this list;
# all other connections are blocked.
locals {
  kafka_ports = local.kafka_own ? [9092] : distinct([
    for broker in split(",", var.kafka_bootstrap) : tonumber(split(":", broker)[1])
  ])
  postgres_port = var.postgres_own ? 5432 : var.postgres_port

  kafka_callers = {
    proxy           = "requests and replies"
    payment-backend = "requests, replies and events"
    balance-backend = "requests, replies and events"
    webhooks        = "events"
    monitoring      = "consumer lag and dead letters"
  }

  postgres_callers = {
    payment-backend = "event store"
    balance-backend = "event store"
    webhooks        = "events that are not delivered yet"
    monitoring      = "audit and view of the balances"
  }

  inbound = [
    { from = "callers", to = "load-balancer", port = 5000, why = "gRPC" },
    { from = "load-balancer", to = "proxy", port = 5000, why = "gRPC" },
    { from = "load-balancer", to = "proxy", port = 5080, why = "health" },
    { from = "client", to = "proxy", port = 5000, why = "gRPC" },
    { from = "client", to = "proxy", port = 5080, why = "REST" },
    { from = "monitoring", to = "proxy", port = 5000, why = "audit reads balances" },
    { from = "monitoring", to = "proxy", port = 5090, why = "metrics and operators' calls" },
    { from = "monitoring", to = "payment-backend", port = 5001, why = "health" },
    { from = "monitoring", to = "balance-backend", port = 5001, why = "health" },
    { from = "monitoring", to = "webhooks", port = 5001, why = "health" },
  ]

  between_brokers = [
    { from = "kafka", to = "kafka", port = 9092, why = "Kafka's tools, started on a broker" },
    { from = "kafka", to = "kafka", port = 9093, why = "controllers" },
    { from = "kafka", to = "kafka", port = 9094, why = "replication" },
  ]

  between_databases = [
    { from = "postgres", to = "postgres", port = 5432, why = "replication" },
    { from = "postgres", to = "postgres", port = 8008, why = "Patroni" },
    { from = "postgres", to = local.etcd_tier, port = 2379, why = "lock of the primary" },
    { from = local.etcd_tier, to = local.etcd_tier, port = 2380, why = "etcd" },
  ]

  to_kafka = flatten([
    for from, why in local.kafka_callers :
    [for port in local.kafka_ports : { from = from, to = "kafka", port = port, why = why }]
  ])
  to_postgres = [
    for from, why in local.postgres_callers : { from = from, to = "postgres", port = local.postgres_port, why = why }
  ]

  to_node_exporter = [
    for tier in ["kafka", "postgres", "proxy", "payment-backend", "balance-backend", "webhooks", "client"] :
    { from = "monitoring", to = tier, port = 9100, why = "node exporter" } if !contains(local.absent, tier)
  ]

  rules = [
    for rule in concat(
      local.inbound,
      local.kafka_own ? local.between_brokers : [],
      var.postgres_own ? local.between_databases : [],
      local.to_kafka,
      local.to_postgres,
      local.to_node_exporter
    ) :
    merge(rule, { protocol = "tcp" })
    if !contains(local.absent, "webhooks") || !contains([rule.from, rule.to], "webhooks")
  ]
}
