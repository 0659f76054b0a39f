output "bucket_arn" {
  description = "The bucket."
  value       = aws_s3_bucket.this.arn
}
