output "host" {
  description = "The database's name, without its port."
  value       = aws_db_instance.this.address
}

output "master_secret_arn" {
  description = "The secret in which RDS stores the master's password; the platform does not read it."
  value       = one(aws_db_instance.this.master_user_secret[*].secret_arn)
}
