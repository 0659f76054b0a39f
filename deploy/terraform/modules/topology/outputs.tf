output "hosts" {
  description = "Every machine: its name, tier, place, address, type, volume and variables in /etc/billing/host.env."
  value       = local.hosts

  precondition {
    condition     = var.postgres_own || var.postgres_host != ""
    error_message = "postgres_host must name the database if postgres_own is false."
  }

  precondition {
    condition     = var.postgres_own || length(var.further_databases) == 0
    error_message = "further_databases are on machines of the platform: postgres must be machine."
  }

  precondition {
    condition = !local.kafka_own || local.tiers.kafka.volume_gib >= local.kafka_volume_gib_min
    error_message = join(" ", [
      "tiers: kafka's volume_gib must be at least ${local.kafka_volume_gib_min} for ${local.partitions} partitions",
      "of each topic on ${local.tiers.kafka.count} brokers; see Disks in deploy/README.md.",
    ])
  }

  # The values are written in quotes to a file that shells and systemd read.
  precondition {
    condition = alltrue(
      flatten([
        for host in local.hosts : [for value in values(host.environment) : can(regex("^[A-Za-z0-9._:/,@= -]*$", value))]
      ])
    )
    error_message = "A variable of host.env contains a character that would need quoting."
  }
}

output "rules" {
  description = "The allowed connections: from and to are tiers, or callers and load-balancer."
  value       = local.rules
}

output "subnets" {
  description = "A subnet for each zone."
  value       = local.subnets
}

output "user_data" {
  description = "The script that a machine runs at its first start, by the machine's name."
  value = {
    for host in local.hosts : host.name => templatefile("${path.module}/user-data.sh.tftpl", {
      environment      = host.environment
      bootstrap_sha256 = var.bootstrap_sha256
      aws_region       = var.aws_region
    })
  }
}
