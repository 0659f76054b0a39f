output "addresses" {
  description = "Each machine's address in the network, by tier."
  value = {
    for tier in local.tiers : tier => { for name, host in local.hosts : name => host.address if host.tier == tier }
  }

  precondition {
    condition     = var.kafka_bootstrap == "" || length(var.kafka_networks) > 0
    error_message = "kafka_networks must contain the networks of the existing brokers: no machine may call others."
  }

  precondition {
    condition     = var.postgres != "existing" || length(var.postgres_networks) > 0
    error_message = "postgres_networks must contain the networks of the existing database: no machine may call others."
  }
}

output "load_balancer" {
  description = "The address for callers, for gRPC: over TLS, unless insecure is true."
  value       = module.load_balancer.address
}

output "instances" {
  description = "Each machine's instance, for aws ssm start-session --target."
  value       = { for name in keys(local.hosts) : name => module.host[name].instance_id }
}

output "kafka" {
  description = "The brokers' addresses, as in the programs' settings."
  value       = module.topology.hosts[0].environment.BILLING_KAFKA
}

output "postgres" {
  description = "The database's address, as in the programs' settings."
  value       = module.topology.hosts[0].environment.BILLING_POSTGRES
}

output "postgres_master_secret" {
  description = "The secret with the master's password, if RDS is used."
  value       = one(module.database[*].master_secret_arn)
}

output "release" {
  description = "The location from which machines fetch the release."
  value       = module.topology.hosts[0].environment.BILLING_RELEASE
}

output "usd_per_hour" {
  description = "The total cost; null if the price of an instance type is not known."
  value       = module.cost.usd_per_hour
}

output "cost" {
  description = "The total cost with its parts."
  value       = module.cost.text
}
