output "addresses" {
  description = "Each machine's address in the network, by tier."
  value       = { for tier in local.tiers : tier => { for name, host in local.hosts : name => host.address if host.tier == tier } }

  precondition {
    condition     = var.kafka_bootstrap == "" || length(var.kafka_networks) > 0
    error_message = "kafka_networks must say where an existing cluster's brokers are, or no machine may connect to them."
  }

  precondition {
    condition     = var.postgres != "existing" || length(var.postgres_networks) > 0
    error_message = "postgres_networks must say where an existing database is, or no machine may connect to it."
  }
}

output "load_balancer" {
  description = "Where callers connect, for gRPC without TLS."
  value       = module.load_balancer.address
}

output "instances" {
  description = "Each machine's instance, for aws ssm start-session --target."
  value       = { for name in keys(local.hosts) : name => module.host[name].instance_id }
}

output "kafka" {
  description = "The brokers, as programs are told."
  value       = module.topology.hosts[0].environment.BILLING_KAFKA
}

output "postgres" {
  description = "The database, as programs are told."
  value       = module.topology.hosts[0].environment.BILLING_POSTGRES
}

output "postgres_master_secret" {
  description = "Where RDS keeps the master's password, if RDS is used."
  value       = one(module.database[*].master_secret_arn)
}

output "release" {
  description = "Where machines fetch the release."
  value       = module.topology.hosts[0].environment.BILLING_RELEASE
}

output "usd_per_hour" {
  description = "What all of it costs; null where an instance type's price is not at hand."
  value       = module.cost.usd_per_hour
}

output "cost" {
  description = "What all of it costs, with its parts."
  value       = module.cost.text
}
