provider "aws" {
  region = var.region

  default_tags {
    tags = local.tags
  }
}

data "aws_caller_identity" "this" {}

data "aws_partition" "this" {}

# Debian's official images.
data "aws_ami" "debian" {
  for_each = toset(values(local.architectures))

  owners      = ["136693071363"]
  most_recent = true

  filter {
    name   = "name"
    values = ["debian-12-${each.key}-*"]
  }

  filter {
    name   = "virtualization-type"
    values = ["hvm"]
  }
}

locals {
  tags   = merge(var.tags, { Project = var.name, ManagedBy = "terraform" })
  zones  = length(var.zones) > 0 ? var.zones : [for letter in ["a", "b", "c"] : "${var.region}${letter}"]
  hosts  = { for host in module.topology.hosts : host.name => host }
  tiers  = toset([for host in module.topology.hosts : host.tier])
  owner  = "${data.aws_caller_identity.this.account_id}-${var.region}"
  bucket = "${var.name}-release-${local.owner}"
  backup = "${var.name}-backup-${local.owner}"

  # The machines on which etcd runs.
  etcd = [
    for name, host in local.hosts : name if contains(split(",", host.environment.BILLING_ETCD), host.address)
  ]

  # Machines may also read a bucket of another owner; over https they need no permission.
  release_bucket = var.release == "" ? local.bucket : startswith(var.release, "s3://") ? split("/", var.release)[2] : ""

  parameters = join(":", [
    "arn", data.aws_partition.this.partition, "ssm", var.region, data.aws_caller_identity.this.account_id,
    "parameter${var.secrets_prefix}"
  ])

  # Graviton types have a g after the generation, as in t4g, m6g and c7gn.
  architectures = {
    for type in distinct([for host in module.topology.hosts : host.instance_type]) :
    type => can(regex("^(a1|[a-z]+[0-9]+[a-z]*g[a-z]*)\\.", type)) ? "arm64" : "amd64"
  }
}

module "topology" {
  source = "./modules/topology"

  network_cidr      = var.network_cidr
  zones             = local.zones
  tiers             = var.tiers
  instance_type     = var.instance_type
  volume_gib        = var.volume_gib
  kafka_bootstrap   = var.kafka_bootstrap
  postgres_own      = var.postgres == "machine"
  postgres_host     = var.postgres == "rds" ? module.database[0].host : var.postgres_host
  postgres_port     = var.postgres == "rds" ? 5432 : var.postgres_port
  further_databases = var.further_databases
  insecure          = var.insecure
  tokens            = var.tokens
  opening_limits    = var.opening_limits
  webhooks          = var.webhooks
  webhook_networks  = var.webhook_networks
  partitions        = var.partitions
  backup            = "s3://${local.backup}"
  release           = var.release != "" ? var.release : "s3://${local.bucket}/${var.release_version}"
  release_version   = var.release_version
  bootstrap_sha256  = var.bootstrap_sha256
  secrets           = "ssm:${var.secrets_prefix}"
  aws_region        = var.region
}

module "network" {
  source = "./modules/network"

  name    = var.name
  region  = var.region
  cidr    = var.network_cidr
  subnets = module.topology.subnets
}

module "security" {
  source = "./modules/security"

  name    = var.name
  vpc_id  = module.network.vpc_id
  rules   = module.topology.rules
  tiers   = local.tiers
  callers = var.callers
  external = merge(
    var.kafka_bootstrap == "" ? {} : { kafka = var.kafka_networks },
    var.postgres != "existing" ? {} : { postgres = var.postgres_networks },
  )
}

module "release" {
  source = "./modules/release"
  count  = var.release == "" ? 1 : 0

  bucket = local.bucket
  folder = (
    var.release_folder == "" ? "${path.root}/../../artifacts/release/${var.release_version}" : var.release_folder
  )
  release_version = var.release_version
}

# What is in it outlives the database: it is only deleted when it is empty.
module "backup" {
  source = "./modules/bucket"
  count  = var.postgres == "machine" ? 1 : 0

  name          = local.backup
  force_destroy = false
}

module "access" {
  source = "./modules/access"

  name           = var.name
  region         = var.region
  machines       = { for name, host in local.hosts : name => host.tier }
  kafka_own      = var.kafka_bootstrap == ""
  postgres_own   = var.postgres == "machine"
  insecure       = var.insecure
  tokens_own     = var.tokens.authority == ""
  etcd           = local.etcd
  parameters_arn = local.parameters
  release_arns = local.release_bucket == "" ? [] : [
    "arn:${data.aws_partition.this.partition}:s3:::${local.release_bucket}"
  ]
  backup_arn = "arn:${data.aws_partition.this.partition}:s3:::${local.backup}"
}

module "database" {
  source = "./modules/database"
  count  = var.postgres == "rds" ? 1 : 0

  name                = var.name
  subnet_ids          = values(module.network.subnet_ids)
  security_group_id   = module.security.group_ids["postgres"]
  engine_version      = var.rds_version
  instance_class      = var.rds_instance_class
  storage_gib         = var.rds_storage_gib
  multi_az            = var.rds_multi_az
  deletion_protection = var.rds_deletion_protection
}

module "host" {
  source   = "./modules/host"
  for_each = local.hosts

  # A machine that starts before it may read the release would only retry, but would log meaningless errors.
  depends_on = [module.network, module.security, module.release, module.backup]

  name              = var.name
  host              = each.value
  ami               = data.aws_ami.debian[local.architectures[each.value.instance_type]].id
  architecture      = local.architectures[each.value.instance_type]
  subnet_id         = module.network.subnet_ids[each.value.zone]
  security_group_id = module.security.group_ids[each.value.tier]
  profile           = module.access.profiles[each.key]
  user_data         = module.topology.user_data[each.key]
  tags              = local.tags
}

module "load_balancer" {
  source = "./modules/load_balancer"

  name              = var.name
  internal          = var.load_balancer_internal
  insecure          = var.insecure
  vpc_id            = module.network.vpc_id
  subnet_ids        = values(module.network.subnet_ids)
  security_group_id = module.security.group_ids["load-balancer"]
  proxy_ids         = { for name, host in local.hosts : name => module.host[name].instance_id if host.tier == "proxy" }
}

module "cost" {
  source = "./modules/cost"

  instance_types                 = [for host in module.topology.hosts : host.instance_type]
  volumes_gib                    = [for host in module.topology.hosts : host.volume_gib]
  public_load_balancer_addresses = var.load_balancer_internal ? 0 : length(module.topology.subnets)
  databases = var.postgres != "rds" ? [] : [{
    class       = var.rds_instance_class
    storage_gib = var.rds_storage_gib
    multi_az    = var.rds_multi_az
  }]
}
