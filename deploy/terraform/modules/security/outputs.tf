output "group_ids" {
  description = "The security groups, by tier, and load-balancer's."
  value       = { for name, group in aws_security_group.this : name => group.id }
}
