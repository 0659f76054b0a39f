locals {
  # The last part of the first machine's address, the default number of machines, and the least size of their volumes.
  # A tier has ten addresses in each zone.
  defaults = {
    kafka           = { first = 11, count = 3, volume_gib = 30 }
    postgres        = { first = 21, count = 2, volume_gib = 100 }
    proxy           = { first = 31, count = 3, volume_gib = 8 }
    payment-backend = { first = 41, count = 3, volume_gib = 8 }
    balance-backend = { first = 51, count = 3, volume_gib = 8 }
    webhooks        = { first = 81, count = 2, volume_gib = 8 }
    client          = { first = 61, count = 3, volume_gib = 8 }
    monitoring      = { first = 71, count = 1, volume_gib = 8 }
  }

  kafka_own = var.kafka_bootstrap == ""
  absent = concat(
    local.kafka_own ? [] : ["kafka"], var.postgres_own ? [] : ["postgres"], length(var.webhooks) > 0 ? [] : ["webhooks"]
  )

  tiers = {
    for tier, default in local.defaults : tier => {
      first         = default.first
      count         = contains(local.absent, tier) ? 0 : try(coalesce(var.tiers[tier].count), default.count)
      instance_type = try(coalesce(var.tiers[tier].instance_type), var.instance_type)
      volume_gib    = try(coalesce(var.tiers[tier].volume_gib), max(var.volume_gib, default.volume_gib))
    }
  }

  partitions = var.partitions > 0 ? var.partitions : max(
    local.tiers["payment-backend"].count, local.tiers["balance-backend"].count
  )

  # A broker has its share of three replicas of nine topics, up to 288 MiB for each partition (kafka/server.properties),
  # and 6 GiB of everything else. Less than a fifth of the disk free raises an alert.
  kafka_volume_gib_min = local.kafka_own ? ceil(
    (9 * local.partitions * 3 / local.tiers.kafka.count * 288 / 1024 + 6) / 0.8
  ) : 0

  subnets = [
    for index, zone in var.zones : {
      name = zone
      zone = zone
      cidr = cidrsubnet(var.network_cidr, 24 - tonumber(split("/", var.network_cidr)[1]), index)
    }
  ]

  # Where the machines of a tier are, and their names. They alternate through the zones; each further database begins
  # with the next zone, and has the next address in each, so that none of its machines changes if another database
  # gets more of them.
  places = {
    for tier, it in local.tiers : tier => tier != "postgres" ? [
      for index in range(it.count) : {
        name     = "${tier}-${index + 1}"
        subnet   = index % 3
        number   = it.first + floor(index / 3)
        database = ""
      }
      ] : flatten([
        for order, database in concat([""], var.further_databases) : [
          for index in range(it.count) : {
            name     = join("-", compact([tier, database, index + 1]))
            subnet   = (order + index) % 3
            number   = it.first + order
            database = database
          }
        ]
    ])
  }

  # In the order of the table in deploy/README.md.
  machines = flatten([
    for tier in [
      "kafka", "postgres", "proxy", "payment-backend", "balance-backend", "webhooks", "client", "monitoring"
      ] : [
      for place in local.places[tier] : {
        name          = place.name
        tier          = tier
        zone          = local.subnets[place.subnet].zone
        subnet        = local.subnets[place.subnet].cidr
        address       = cidrhost(local.subnets[place.subnet].cidr, place.number)
        instance_type = local.tiers[tier].instance_type
        volume_gib    = local.tiers[tier].volume_gib
        database      = place.database
      }
    ]
  ])

  # Where etcd runs, in which the database's machines agree on the primary: one machine in each zone.
  etcd_tier = local.kafka_own ? "kafka" : "proxy"
  etcd = var.postgres_own ? slice(
    local.addresses[local.etcd_tier], 0, min(3, length(local.addresses[local.etcd_tier]))
  ) : []

  addresses = {
    for tier in keys(local.tiers) : tier => [for machine in local.machines : machine.address if machine.tier == tier]
  }

  # The servers of each database; only where there are several do they need names.
  databases = [
    for database in concat([""], var.further_databases) : join("=", compact([
      length(var.further_databases) == 0 ? "" : coalesce(database, "billing"),
      join(",", [
        for machine in local.machines : "${machine.address}:5432"
        if machine.tier == "postgres" && machine.database == database
      ])
    ]))
  ]

  shared = {
    BILLING_VERSION = var.release_version
    BILLING_RELEASE = var.release
    BILLING_SECRETS = var.secrets
    BILLING_KAFKA = local.kafka_own ? join(
      ",", [for address in local.addresses.kafka : "${address}:9092"]
    ) : var.kafka_bootstrap
    BILLING_KAFKA_NODES  = join(",", [for index, address in local.addresses.kafka : "${index + 1}@${address}"])
    BILLING_POSTGRES     = var.postgres_own ? join(" ", local.databases) : "${var.postgres_host}:${var.postgres_port}"
    BILLING_POSTGRES_OWN = tostring(var.postgres_own)
    BILLING_BACKUP       = var.postgres_own ? var.backup : ""
    BILLING_ETCD         = join(",", local.etcd)
    BILLING_PROXIES      = join(",", [for address in local.addresses.proxy : "${address}:5000"])
    BILLING_HOSTS        = join(",", [for machine in local.machines : "${machine.name}=${machine.address}"])
    BILLING_NETWORK      = var.network_cidr
    BILLING_PARTITIONS   = tostring(local.partitions)
    BILLING_INSECURE     = tostring(var.insecure)

    BILLING_TOKEN_ISSUER    = var.tokens.issuer == "" && var.tokens.authority == "" ? "billing" : var.tokens.issuer
    BILLING_TOKEN_AUDIENCE  = var.tokens.audience
    BILLING_TOKEN_AUTHORITY = var.tokens.authority

    BILLING_OPENING_LIMITS = join(" ", [for currency, limit in var.opening_limits : "${currency}=${limit}"])
  }

  # Settings below Billing:Webhooks, for the machines that send events.
  webhooks = join(" ", concat(
    [for name, receiver in var.webhooks : "Receivers:${name}:Url=${receiver.url}"],
    [
      for name, receiver in var.webhooks : "Receivers:${name}:Events=${join(",", receiver.events)}"
      if length(receiver.events) > 0
    ],
    [
      for name, receiver in var.webhooks : "Receivers:${name}:PaymentTypes=${join(",", receiver.payment_types)}"
      if length(receiver.payment_types) > 0
    ],
    length(var.webhook_networks) > 0 ? ["AllowedNetworks=${join(",", var.webhook_networks)}"] : [],
  ))

  hosts = [
    for machine in local.machines : merge(machine, {
      environment = merge(local.shared, {
        BILLING_NAME     = machine.name
        BILLING_TIER     = machine.tier
        BILLING_ZONE     = machine.zone
        BILLING_ADDRESS  = machine.address
        BILLING_DATABASE = machine.database
        BILLING_WEBHOOKS = machine.tier == "webhooks" ? local.webhooks : ""
      })
    })
  ]
}
