variable "region" {
  description = "The AWS region."
  type        = string
  default     = "us-east-1"

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.region))
    error_message = "region must look like us-east-1."
  }
}

variable "zones" {
  description = "Three availability zones of the region; empty for its a, b and c."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "name" {
  description = "The prefix of all names, so that several platforms can share an account."
  type        = string
  default     = "billing"

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,18}[a-z0-9]$", var.name))
    error_message = "name must be 2 to 20 lower-case letters, digits and dashes."
  }
}

variable "tags" {
  description = "Tags of all resources, in addition to Project and ManagedBy."
  type        = map(string)
  default     = {}
  nullable    = false
}

variable "network_cidr" {
  description = "The network that the machines share, /16 to /22."
  type        = string
  default     = "10.20.0.0/16"
}

variable "tiers" {
  description = "Differences from the defaults, such as { kafka = { count = 6, instance_type = \"t3.small\" } }."
  type = map(object({
    count         = optional(number)
    instance_type = optional(string)
    volume_gib    = optional(number)
  }))
  default  = {}
  nullable = false
}

variable "instance_type" {
  description = "The instance type of every tier for which tiers sets none."
  type        = string
  default     = "t2.micro"
}

variable "volume_gib" {
  description = "The size of a volume that tiers does not set; a broker's is at least 30, the database's at least 100."
  type        = number
  default     = 10
}

variable "partitions" {
  description = "Partitions of a request topic; 0 for as many as there are backends of the larger tier."
  type        = number
  default     = 0
}

variable "callers" {
  description = "The networks whose programs may call the load balancer. The tier client calls the proxies directly."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for cidr in var.callers : can(cidrnetmask(cidr)) && !endswith(cidr, "/0")])
    error_message = "callers must be IPv4 networks such as 10.1.0.0/16, and not the whole internet."
  }
}

variable "insecure" {
  description = "Whether proxies have neither TLS nor tokens: whoever reaches one may do everything."
  type        = bool
  default     = false
  nullable    = false
}

variable "tokens" {
  description = "Who issues callers' tokens: by default secrets.sh; else issuer, audience and the OpenID provider."
  type = object({
    issuer    = optional(string, "")
    audience  = optional(string, "billing")
    authority = optional(string, "")
  })
  default  = {}
  nullable = false
}

variable "load_balancer_internal" {
  description = "Whether the load balancer only has addresses inside the network."
  type        = bool
  default     = true
}

variable "kafka_bootstrap" {
  description = "An existing cluster's brokers, host:port separated by commas; empty for the platform's own brokers."
  type        = string
  default     = ""
  nullable    = false
}

variable "kafka_networks" {
  description = "The networks of an existing cluster's brokers, to which the machines may connect."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for cidr in var.kafka_networks : can(cidrnetmask(cidr))])
    error_message = "kafka_networks must be IPv4 networks such as 10.1.0.0/16."
  }
}

variable "postgres" {
  description = "machine: the platform's own machine; rds: a database of RDS; existing: the one at postgres_host."
  type        = string
  default     = "machine"

  validation {
    condition     = contains(["machine", "rds", "existing"], var.postgres)
    error_message = "postgres must be machine, rds or existing."
  }
}

variable "postgres_host" {
  description = "An existing database's host."
  type        = string
  default     = ""
  nullable    = false
}

variable "postgres_port" {
  description = "An existing database's port."
  type        = number
  default     = 5432
}

variable "postgres_networks" {
  description = "The networks of an existing database, to which the machines may connect."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for cidr in var.postgres_networks : can(cidrnetmask(cidr))])
    error_message = "postgres_networks must be IPv4 networks such as 10.1.0.0/16."
  }
}

variable "further_databases" {
  description = "Names of further databases on machines of the platform; billing shards moves accounts to them."
  type        = list(string)
  default     = []
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
  description = "Receivers of events by name, such as { shop = { url = \"https://shop.example/events\" } }."
  type = map(object({
    url           = string
    events        = optional(list(string), [])
    payment_types = optional(list(string), [])
  }))
  default  = {}
  nullable = false
}

variable "webhook_networks" {
  description = "Networks in which receivers may be although they are not public, for example [\"10.1.0.0/16\"]."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "rds_version" {
  description = "The version of PostgreSQL on RDS."
  type        = string
  default     = "17"
}

variable "rds_instance_class" {
  description = "The instance class on RDS."
  type        = string
  default     = "db.t4g.micro"

  validation {
    condition     = can(regex("^db\\.[a-z0-9]+\\.[a-z0-9]+$", var.rds_instance_class))
    error_message = "rds_instance_class must look like db.t4g.micro."
  }
}

variable "rds_storage_gib" {
  description = "The volume's size on RDS; it may grow automatically up to ten times this size."
  type        = number
  default     = 20

  validation {
    condition     = try(var.rds_storage_gib >= 20 && var.rds_storage_gib <= 6553, false)
    error_message = "rds_storage_gib must be 20 to 6553."
  }
}

variable "rds_multi_az" {
  description = "Whether RDS keeps a standby in another zone."
  type        = bool
  default     = false
}

variable "rds_deletion_protection" {
  description = "Whether RDS protects the database from deletion; terraform destroy fails until this is false."
  type        = bool
  default     = true
}

variable "secrets_prefix" {
  description = "The path in the parameter store below which secrets.sh stores the secrets."
  type        = string
  default     = "/billing"

  validation {
    condition = (
      can(regex("^(/[A-Za-z0-9._-]+)+$", var.secrets_prefix))
      && !can(regex("^/(aws|ssm)", lower(var.secrets_prefix)))
    )
    error_message = "secrets_prefix must be a path such as /billing without a last slash; AWS reserves /aws and /ssm."
  }
}

variable "release" {
  description = "The folder of the release's archives, https:// or s3://; empty for a bucket made from release_folder."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = !startswith(var.release, "file:")
    error_message = "release must be https:// or s3://; a new machine has no local files."
  }
}

variable "release_folder" {
  description = "The folder with the archives of ./billing package; empty for that of the version in artifacts/release."
  type        = string
  default     = ""
}

variable "release_version" {
  description = "The release to install, from release.auto.tfvars.json among the archives."
  type        = string
}

variable "bootstrap_sha256" {
  description = "SHA-256 of the bootstrap archive, from release.auto.tfvars.json among the archives."
  type        = string
}
