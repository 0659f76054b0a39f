resource "aws_instance" "this" {
  ami                         = var.ami
  instance_type               = var.host.instance_type
  subnet_id                   = var.subnet_id
  private_ip                  = var.host.address
  associate_public_ip_address = true
  vpc_security_group_ids      = [var.security_group_id]
  iam_instance_profile        = var.profile
  user_data                   = var.user_data
  user_data_replace_on_change = false
  tags                        = { Name = "${var.name}-${var.host.name}", Tier = var.host.tier }

  # Containers, and programs that can be tricked into a plain GET, get no credentials.
  metadata_options {
    http_endpoint               = "enabled"
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
  }

  root_block_device {
    encrypted             = true
    volume_type           = "gp3"
    volume_size           = var.host.volume_gib
    delete_on_termination = true
    tags                  = merge(var.tags, { Name = "${var.name}-${var.host.name}" })
  }

  # Without credits a machine becomes slower, not more expensive.
  dynamic "credit_specification" {
    for_each = startswith(var.host.instance_type, "t") ? ["standard"] : []

    content {
      cpu_credits = credit_specification.value
    }
  }

  lifecycle {
    # A newer image, or an additional machine in another tier, must not replace brokers and the database.
    # README.md describes how to replace a machine.
    ignore_changes = [ami, user_data]

    precondition {
      condition = var.architecture == "amd64" || contains(["kafka", "postgres"], var.host.tier)
      error_message = join(" ", [
        "tiers: ${var.host.tier} needs an x86 instance type, since the release contains programs for x64 only;",
        "${var.host.instance_type} is arm64.",
      ])
    }
  }
}
