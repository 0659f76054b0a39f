locals {
  # The machines of a tier have one role. Each proxy has one of its own: no proxy reads another one's password, with
  # which it would reach the answers to the other one's callers.
  role_of = { for name, tier in var.machines : name => tier == "proxy" ? name : tier }
  roles   = { for name, role in local.role_of : role => var.machines[name]... }

  # The authorities that have signed the certificates of the database's servers and of the brokers.
  database = [var.postgres_own ? "tls/ca" : "tls/postgres-ca"]
  brokers  = [var.kafka_own ? "tls/ca" : "tls/kafka-ca"]

  # What proxies show to callers, and verify them with.
  callers = var.insecure ? [] : concat(["tls/proxy"], var.tokens_own ? ["tokens/jwks"] : [])

  # The secrets that each tier may read below the prefix. secrets.sh creates them.
  tiers = {
    kafka           = ["kafka/*", "tls/kafka", "tls/ca"]
    postgres        = concat(["postgres/*", "tls/postgres"], local.database)
    payment-backend = concat(["kafka/payment-backend", "postgres/backend"], local.brokers, local.database)
    balance-backend = concat(["kafka/balance-backend", "postgres/backend"], local.brokers, local.database)
    webhooks        = concat(["kafka/webhooks", "postgres/webhooks", "webhooks/*"], local.brokers, local.database)
    client          = ["tls/ca"]
    monitoring      = concat(["kafka/operator", "postgres/audit", "tls/ca"], local.brokers, local.database)
  }
  secrets = {
    for role, tiers in local.roles : role => distinct(concat(
      tiers[0] == "proxy" ? concat(["kafka/${role}"], local.brokers, local.callers) : local.tiers[tiers[0]],
      contains(local.etcd, role) ? ["tls/etcd", "tls/ca"] : []
    ))
  }

  # The roles of the machines on which etcd runs.
  etcd = [for name in var.etcd : local.role_of[name]]

  # The rights that the systems manager's agent needs for sessions and commands. AWS's policy,
  # AmazonSSMManagedInstanceCore, also lets a machine read every parameter of the account, and so every tier's secrets.
  agent = {
    Sid    = "SystemsManager"
    Effect = "Allow"
    Action = [
      "ec2messages:AcknowledgeMessage",
      "ec2messages:DeleteMessage",
      "ec2messages:FailMessage",
      "ec2messages:GetEndpoint",
      "ec2messages:GetMessages",
      "ec2messages:SendReply",
      "ssm:UpdateInstanceInformation",
      "ssmmessages:CreateControlChannel",
      "ssmmessages:CreateDataChannel",
      "ssmmessages:OpenControlChannel",
      "ssmmessages:OpenDataChannel",
    ]
    Resource = ["*"]
  }

  release = {
    Sid      = "Release"
    Effect   = "Allow"
    Action   = ["s3:GetObject"]
    Resource = [for arn in var.release_arns : "${arn}/*"]
  }

  # What pgBackRest needs.
  backups = {
    for role in keys(local.roles) : role => {
      Sid      = "Backups"
      Effect   = "Allow"
      Action   = ["s3:DeleteObject", "s3:GetObject", "s3:ListBucket", "s3:PutObject"]
      Resource = role == "postgres" ? [var.backup_arn, "${var.backup_arn}/*"] : []
    }
  }

  parameters = {
    for role, names in local.secrets : role => {
      Sid      = "Secrets"
      Effect   = "Allow"
      Action   = ["ssm:GetParameter", "ssm:GetParameters"]
      Resource = [for name in names : "${var.parameters_arn}/${name}"]
    }
  }
}

resource "aws_iam_role" "this" {
  for_each = local.roles

  name        = "${var.name}-${each.key}-${var.region}"
  description = "Machines of ${each.value[0]}"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "ec2.amazonaws.com" }
    }]
  })
}

resource "aws_iam_role_policy" "this" {
  for_each = local.roles

  name = "machine"
  role = aws_iam_role.this[each.key].id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      for statement in [local.agent, local.backups[each.key], local.release, local.parameters[each.key]] : statement
      if length(statement.Resource) > 0
    ]
  })
}

resource "aws_iam_instance_profile" "this" {
  for_each = local.roles

  name = "${var.name}-${each.key}-${var.region}"
  role = aws_iam_role.this[each.key].name
}
