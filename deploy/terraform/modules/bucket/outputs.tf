output "id" {
  description = "The bucket, when it is encrypted and closed."
  value       = aws_s3_bucket.this.id
  depends_on = [
    aws_s3_bucket_policy.this,
    aws_s3_bucket_ownership_controls.this,
    aws_s3_bucket_server_side_encryption_configuration.this,
  ]
}
