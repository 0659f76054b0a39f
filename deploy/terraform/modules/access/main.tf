locals {
  # The secrets that each tier may read below the prefix. secrets.sh creates them.
  secrets = {
    kafka           = ["kafka/*"]
    postgres        = ["postgres/*"]
    proxy           = ["kafka/proxy"]
    payment-backend = ["kafka/payment-backend", "postgres/backend"]
    balance-backend = ["kafka/balance-backend", "postgres/backend"]
    webhooks        = ["kafka/webhooks", "postgres/webhooks", "webhooks/*"]
    client          = []
    monitoring      = ["kafka/admin", "kafka/operator", "postgres/audit", "postgres/owner"]
  }

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
    for tier in keys(local.secrets) : tier => {
      Sid      = "Backups"
      Effect   = "Allow"
      Action   = ["s3:DeleteObject", "s3:GetObject", "s3:ListBucket", "s3:PutObject"]
      Resource = tier == "postgres" ? [var.backup_arn, "${var.backup_arn}/*"] : []
    }
  }

  parameters = {
    for tier, names in local.secrets : tier => {
      Sid      = "Secrets"
      Effect   = "Allow"
      Action   = ["ssm:GetParameter", "ssm:GetParameters"]
      Resource = [for name in names : "${var.parameters_arn}/${name}"]
    }
  }
}

resource "aws_iam_role" "this" {
  for_each = var.tiers

  name        = "${var.name}-${each.key}-${var.region}"
  description = "Machines of ${each.key}"
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
  for_each = var.tiers

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
  for_each = var.tiers

  name = "${var.name}-${each.key}-${var.region}"
  role = aws_iam_role.this[each.key].name
}
