output "profiles" {
  description = "The instance profile of each machine, by the machine's name."
  value = {
    for name, tier in var.machines : name => aws_iam_instance_profile.this[tier == "proxy" ? name : tier].name
  }
}
