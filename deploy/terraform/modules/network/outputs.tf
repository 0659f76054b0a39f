output "vpc_id" {
  description = "The network."
  value       = aws_vpc.this.id
}

output "subnet_ids" {
  description = "The subnets, by zone."
  value       = { for zone, subnet in aws_subnet.this : zone => subnet.id }
}
