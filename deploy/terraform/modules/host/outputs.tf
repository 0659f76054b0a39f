output "instance_id" {
  description = "The instance, for sessions of the systems manager."
  value       = aws_instance.this.id
}
