locals {
  archives = [for file in fileset(var.folder, "*") : file if !endswith(file, ".tfvars.json")]
}

resource "aws_s3_bucket" "this" {
  bucket        = var.bucket
  force_destroy = true
  tags          = { Name = var.bucket }

  lifecycle {
    precondition {
      condition     = contains(local.archives, "billing-bootstrap-${var.release_version}.tar.gz")
      error_message = "release_folder contains no billing-bootstrap-${var.release_version}.tar.gz: ./billing package creates it."
    }
  }
}

resource "aws_s3_bucket_public_access_block" "this" {
  bucket                  = aws_s3_bucket.this.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_ownership_controls" "this" {
  bucket = aws_s3_bucket.this.id

  rule {
    object_ownership = "BucketOwnerEnforced"
  }
}

resource "aws_s3_bucket_server_side_encryption_configuration" "this" {
  bucket = aws_s3_bucket.this.id

  rule {
    apply_server_side_encryption_by_default {
      sse_algorithm = "AES256"
    }
  }
}

resource "aws_s3_bucket_versioning" "this" {
  bucket = aws_s3_bucket.this.id

  versioning_configuration {
    status = "Enabled"
  }
}

resource "aws_s3_bucket_policy" "this" {
  bucket     = aws_s3_bucket.this.id
  depends_on = [aws_s3_bucket_public_access_block.this]
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "EncryptedConnectionsOnly"
      Effect    = "Deny"
      Action    = "s3:*"
      Principal = "*"
      Resource  = [aws_s3_bucket.this.arn, "${aws_s3_bucket.this.arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

resource "aws_s3_object" "archive" {
  for_each   = toset(local.archives)
  depends_on = [aws_s3_bucket_versioning.this, aws_s3_bucket_server_side_encryption_configuration.this]

  bucket      = aws_s3_bucket.this.id
  key         = "${var.release_version}/${each.key}"
  source      = "${var.folder}/${each.key}"
  source_hash = filesha256("${var.folder}/${each.key}")
}
