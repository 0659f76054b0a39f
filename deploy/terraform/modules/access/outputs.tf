output "profiles" {
  description = "The instance profile of each machine, by the machine's name."
  value       = { for name, role in local.role_of : name => aws_iam_instance_profile.this[role].name }
}
