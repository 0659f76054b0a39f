output "host" {
  description = "The database's name, without its port."
  value       = aws_db_instance.this.address
}

output "master_secret_arn" {
  description = "Where RDS keeps the master's password; nothing of the platform reads it."
  value       = one(aws_db_instance.this.master_user_secret[*].secret_arn)
}
