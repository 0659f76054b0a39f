output "profiles" {
  description = "The instance profiles, by tier."
  value       = { for tier, profile in aws_iam_instance_profile.this : tier => profile.name }
}
