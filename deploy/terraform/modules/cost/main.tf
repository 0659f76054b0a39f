# On-demand prices in USD of us-east-1, Linux, as AWS published them in 2025 (aws.amazon.com/ec2/pricing/on-demand,
# /ebs/pricing, /vpc/pricing, /elasticloadbalancing/pricing, /rds/postgresql/pricing). Other regions cost up to 50 %
# more. Not included: traffic, load balancer capacity units, storage of the release, snapshots.
locals {
  instance_hour = {
    "t2.nano"     = 0.0058, "t2.micro" = 0.0116, "t2.small" = 0.023, "t2.medium" = 0.0464, "t2.large" = 0.0928
    "t3.nano"     = 0.0052, "t3.micro" = 0.0104, "t3.small" = 0.0208, "t3.medium" = 0.0416, "t3.large" = 0.0832
    "t3a.nano"    = 0.0047, "t3a.micro" = 0.0094, "t3a.small" = 0.0188, "t3a.medium" = 0.0376, "t3a.large" = 0.0752
    "t4g.nano"    = 0.0042, "t4g.micro" = 0.0084, "t4g.small" = 0.0168, "t4g.medium" = 0.0336, "t4g.large" = 0.0672
    "m5.large"    = 0.096, "m5.xlarge" = 0.192, "m6i.large" = 0.096, "m6i.xlarge" = 0.192, "m7i.large" = 0.1008
    "c5.large"    = 0.085, "c5.xlarge" = 0.17, "c6i.large" = 0.085, "c6i.xlarge" = 0.17, "c7i.large" = 0.08925
    "m6g.large"   = 0.077, "m6g.xlarge" = 0.154, "c6g.large" = 0.068, "c6g.xlarge" = 0.136
    "r6i.large"   = 0.126, "r6i.xlarge" = 0.252, "r6g.large" = 0.1008
    "m6i.2xlarge" = 0.384, "c6i.2xlarge" = 0.34
  }

  database_hour = {
    "db.t3.micro"  = 0.018, "db.t3.small" = 0.036, "db.t3.medium" = 0.072
    "db.t4g.micro" = 0.016, "db.t4g.small" = 0.032, "db.t4g.medium" = 0.065
    "db.m5.large"  = 0.178, "db.m6g.large" = 0.159
  }

  hours_of_month     = 730
  volume_gib_hour    = 0.08 / local.hours_of_month
  database_gib_hour  = 0.115 / local.hours_of_month
  public_ipv4_hour   = 0.005
  load_balancer_hour = 0.0225

  unknown = distinct(concat(
    [for type in var.instance_types : type if !contains(keys(local.instance_hour), type)],
    [for database in var.databases : database.class if !contains(keys(local.database_hour), database.class)],
  ))

  parts = length(local.unknown) > 0 ? null : {
    instances     = sum(concat([0], [for type in var.instance_types : local.instance_hour[type]]))
    volumes       = sum(concat([0], var.volumes_gib)) * local.volume_gib_hour
    public_ipv4   = (length(var.instance_types) + var.public_load_balancer_addresses) * local.public_ipv4_hour
    load_balancer = local.load_balancer_hour
    database = sum(concat([0], [
      for database in var.databases : (database.multi_az ? 2 : 1) * (
        local.database_hour[database.class] + database.storage_gib * local.database_gib_hour
      )
    ]))
  }
}
