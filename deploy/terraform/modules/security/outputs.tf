output "group_ids" {
  description = "The security groups, by tier, and that of load-balancer."
  value       = { for name, group in aws_security_group.this : name => group.id }
}
