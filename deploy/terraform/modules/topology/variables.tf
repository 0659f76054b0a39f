variable "network_cidr" {
  description = "The network that the machines share; each zone gets a /24 of it."
  type        = string
  default     = "10.20.0.0/16"

  validation {
    condition = (
      can(cidrnetmask(var.network_cidr)) &&
      try(cidrhost(var.network_cidr, 0) == split("/", var.network_cidr)[0], false) &&
      try(tonumber(split("/", var.network_cidr)[1]) >= 16 && tonumber(split("/", var.network_cidr)[1]) <= 22, false)
    )
    error_message = "network_cidr must be an IPv4 network of /16 to /22 without host bits, such as 10.20.0.0/16."
  }
}

variable "zones" {
  description = "The three zones. With only two, the loss of one could be the loss of the brokers' majority."
  type        = list(string)
  default     = ["a", "b", "c"]

  validation {
    condition = length(var.zones) == 3 && length(distinct(var.zones)) == 3 && alltrue([
      for zone in var.zones : can(regex("^[a-z0-9-]+$", zone))
    ])
    error_message = "zones must be three different names of lower-case letters, digits and dashes."
  }
}

variable "tiers" {
  description = "Differences from the defaults: a tier's number of machines, their instance type and volumes."
  type = map(object({
    count         = optional(number)
    instance_type = optional(string)
    volume_gib    = optional(number)
  }))
  default  = {}
  nullable = false

  validation {
    condition = alltrue([
      for tier in keys(var.tiers) :
      contains(
        ["kafka", "postgres", "proxy", "payment-backend", "balance-backend", "webhooks", "client", "monitoring"], tier
      )
    ])
    error_message = join(" ", [
      "tiers may contain kafka, postgres, proxy, payment-backend, balance-backend, webhooks, client",
      "and monitoring only.",
    ])
  }

  validation {
    condition = alltrue([
      for tier in values(var.tiers) :
      [for count in [coalesce(tier.count, 1)] : count >= 0 && count <= 30 && floor(count) == count][0]
    ])
    error_message = "tiers: a count must be a whole number of at most 30: ten machines in each zone."
  }

  validation {
    condition     = alltrue([for name, tier in var.tiers : name == "client" || coalesce(tier.count, 1) >= 1])
    error_message = "tiers: a count of 0 is only possible for client; the platform needs every other tier."
  }

  validation {
    condition = alltrue([for name, tier in var.tiers : name != "kafka" || coalesce(tier.count, 3) >= 3])
    error_message = join(" ", [
      "tiers: kafka's count must be at least 3: topics have three replicas. The first three are controllers, those",
      "after them brokers only.",
    ])
  }

  validation {
    condition     = alltrue([for name, tier in var.tiers : name != "monitoring" || coalesce(tier.count, 1) == 1])
    error_message = "tiers: the count of monitoring must be 1."
  }

  validation {
    condition     = alltrue([for name, tier in var.tiers : name != "postgres" || coalesce(tier.count, 2) <= 3])
    error_message = "tiers: postgres's count must be at most 3: a primary, its standby and one more."
  }

  validation {
    condition = alltrue([
      for tier in values(var.tiers) : can(regex("^[a-z0-9-]+\\.[a-z0-9-]+$", coalesce(tier.instance_type, "t2.micro")))
    ])
    error_message = "tiers: an instance_type must look like t2.micro."
  }

  validation {
    condition = alltrue([
      for tier in values(var.tiers) :
      [for gib in [coalesce(tier.volume_gib, 8)] : gib >= 8 && gib <= 16384 && floor(gib) == gib][0]
    ])
    error_message = "tiers: a volume_gib must be a whole number of 8 to 16384."
  }
}

variable "instance_type" {
  description = "The instance type of every tier for which tiers sets none."
  type        = string
  default     = "t2.micro"

  validation {
    condition     = can(regex("^[a-z0-9-]+\\.[a-z0-9-]+$", var.instance_type))
    error_message = "instance_type must look like t2.micro."
  }
}

variable "volume_gib" {
  description = "The size of a volume that tiers does not set; a broker's is at least 30, the database's at least 100."
  type        = number
  default     = 10

  validation {
    condition = try(
      var.volume_gib >= 8 && var.volume_gib <= 16384 && floor(var.volume_gib) == var.volume_gib, false
    )
    error_message = "volume_gib must be a whole number of 8 to 16384."
  }
}

variable "kafka_bootstrap" {
  description = "An existing cluster's brokers, host:port separated by commas; empty for the platform's own brokers."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^([A-Za-z0-9.-]+:[0-9]{1,5}(,[A-Za-z0-9.-]+:[0-9]{1,5})*)?$", var.kafka_bootstrap))
    error_message = "kafka_bootstrap must be host:port, separated by commas."
  }
}

variable "postgres_own" {
  description = "Whether the database is on the platform's own machines."
  type        = bool
  default     = true
  nullable    = false
}

variable "postgres_host" {
  description = "The database's host if it is not on the platform's own machines."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^[A-Za-z0-9.-]*$", var.postgres_host))
    error_message = "postgres_host must be a host's name or address, without a port."
  }
}

variable "postgres_port" {
  description = "The database's port if it is not on the platform's own machines."
  type        = number
  default     = 5432

  validation {
    condition = try(
      var.postgres_port >= 1 && var.postgres_port <= 65535 && floor(var.postgres_port) == var.postgres_port, false
    )
    error_message = "postgres_port must be between 1 and 65535."
  }
}

variable "further_databases" {
  description = "Names of further databases, each on as many machines as the first one. They are only added at the end."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition = (
      length(var.further_databases) <= 9
      && length(distinct(var.further_databases)) == length(var.further_databases)
    )
    error_message = "further_databases must be at most nine different names."
  }

  validation {
    condition = alltrue([
      for name in var.further_databases : can(regex("^[a-z][a-z0-9]{0,14}$", name)) && name != "billing"
    ])
    error_message = join(" ", [
      "further_databases must be names of up to 15 lower-case letters and digits that begin with a letter;",
      "billing is the first one's.",
    ])
  }
}

variable "insecure" {
  description = "Whether proxies have neither TLS nor tokens: whoever reaches one may do everything."
  type        = bool
  default     = false
  nullable    = false
}

variable "tokens" {
  description = "Issuer and audience of callers' tokens, and the OpenID provider with the keys, if there is one."
  type = object({
    issuer    = optional(string, "")
    audience  = optional(string, "billing")
    authority = optional(string, "")
  })
  default  = {}
  nullable = false

  # Machines may connect to other networks at 443.
  validation {
    condition     = can(regex("^(https://[A-Za-z0-9.-]+(/[A-Za-z0-9._/@,=-]*)?)?$", var.tokens.authority))
    error_message = "tokens: authority must look like https://login.example.com/tenant, without a port, or be empty."
  }

  validation {
    condition = alltrue([
      can(regex("^[A-Za-z0-9._:/,@= -]*$", var.tokens.issuer)),
      can(regex("^[A-Za-z0-9._:/,@= -]+$", var.tokens.audience)),
    ])
    error_message = "tokens: issuer and audience must be of letters, digits, spaces and . _ : / , @ = -."
  }
}

variable "opening_limits" {
  description = "What an account may owe before a limit is set, by currency, such as { USD = 500 }; 0 in all others."
  type        = map(number)
  default     = {}
  nullable    = false

  validation {
    condition = alltrue([
      for currency, limit in var.opening_limits : can(regex("^[A-Z]{3}$", currency)) && limit >= 0 && limit <= 1e15
    ])
    error_message = "opening_limits must be amounts between 0 and 10^15 by currency, such as { USD = 500 }."
  }
}

variable "webhooks" {
  description = "Receivers of events, by names that never change; none: no machine sends events."
  type = map(object({
    url           = string
    events        = optional(list(string), [])
    payment_types = optional(list(string), [])
  }))
  default  = {}
  nullable = false

  validation {
    condition     = alltrue([for name in keys(var.webhooks) : can(regex("^[a-z0-9][a-z0-9_-]{0,62}$", name))])
    error_message = "webhooks: a receiver's name must be lower-case letters, digits, underscores and hyphens."
  }

  # Machines may connect to other networks at 443.
  validation {
    condition = alltrue([
      for receiver in values(var.webhooks) : can(regex("^https://[A-Za-z0-9.-]+(/[A-Za-z0-9._/@,=-]*)?$", receiver.url))
    ])
    error_message = join(" ", [
      "webhooks: a url must look like https://shop.example/events, without a port,",
      "of letters, digits and . _ / @ , = -.",
    ])
  }

  validation {
    condition = alltrue(
      flatten([for receiver in values(var.webhooks) : [for kind in receiver.events : can(regex("^[A-Z_]+$", kind))]])
    )
    error_message = "webhooks: events must be kinds of docs/webhooks.md, such as PAYMENT_ACCEPTED."
  }

  validation {
    condition = alltrue(
      flatten([
        for receiver in values(var.webhooks) :
        [for type in receiver.payment_types : contains(["VISA", "MASTERCARD", "DISCOVER", "AMEX"], type)]
      ])
    )
    error_message = "webhooks: payment_types may contain VISA, MASTERCARD, DISCOVER and AMEX only."
  }
}

variable "webhook_networks" {
  description = "Networks in which receivers may be although they are not public."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for cidr in var.webhook_networks : can(cidrnetmask(cidr))])
    error_message = "webhook_networks must be IPv4 networks such as 10.1.0.0/16."
  }
}

variable "backup" {
  description = "Where the backups of its own database are: s3://BUCKET, or a folder that outlives the machines."
  type        = string
  default     = "/srv/billing/shared/backup"

  validation {
    condition     = can(regex("^(s3:/)?(/[A-Za-z0-9._-]+)+$", var.backup))
    error_message = "backup must be s3://BUCKET or a folder, without a slash at its end."
  }
}

variable "partitions" {
  description = "Partitions of a request topic; 0 for as many as there are backends of the larger tier."
  type        = number
  default     = 0

  validation {
    condition = try(
      var.partitions >= 0 && var.partitions <= 10000 && floor(var.partitions) == var.partitions, false
    )
    error_message = "partitions must be between 1 and 10000, or 0 for as many as there are backends of the larger tier."
  }
}

variable "release" {
  description = "The folder of the release's archives: s3://BUCKET/PREFIX, https://... or file:///..."
  type        = string
  default     = "file:///srv/billing/release"

  validation {
    condition = can(
      regex("^(s3|https|file)://[A-Za-z0-9._/-]+(:[0-9]+)?[A-Za-z0-9._/-]*[A-Za-z0-9._-]$", var.release)
    )
    error_message = join(" ", [
      "release must be s3://, https:// or file:// and a path of letters, digits, dots, dashes and slashes that does",
      "not end in a slash.",
    ])
  }
}

variable "release_version" {
  description = "The release to install."
  type        = string
  default     = "1.0.0"

  validation {
    condition     = can(regex("^[0-9]+\\.[0-9]+\\.[0-9]+(-[0-9A-Za-z.-]+)?$", var.release_version))
    error_message = "release_version must look like 1.0.0."
  }
}

variable "bootstrap_sha256" {
  description = "SHA-256 of the bootstrap archive. The default matches no archive, so that none runs unchecked."
  type        = string
  default     = "0000000000000000000000000000000000000000000000000000000000000000"

  validation {
    condition     = can(regex("^[0-9a-f]{64}$", var.bootstrap_sha256))
    error_message = "bootstrap_sha256 must be 64 hexadecimal digits."
  }
}

variable "secrets" {
  description = "The location of the secrets: ssm:/PATH in the parameter store, or file:/FOLDER with a file for each."
  type        = string
  default     = "file:/etc/billing/secrets"

  validation {
    condition     = can(regex("^(ssm|file):(/[A-Za-z0-9._-]+)+$", var.secrets))
    error_message = "secrets must be ssm:/PATH or file:/FOLDER: the location of the secrets, not a secret."
  }
}

variable "aws_region" {
  description = "The region of a machine on AWS, which then installs the systems manager's agent; empty elsewhere."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^([a-z]{2}(-[a-z]+)+-[0-9])?$", var.aws_region))
    error_message = "aws_region must look like us-east-1, or be empty."
  }
}
