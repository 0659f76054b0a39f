locals {
  archives = [for file in fileset(var.folder, "*") : file if !endswith(file, ".tfvars.json")]
}

module "bucket" {
  source = "../bucket"

  name          = var.bucket
  force_destroy = true
}

resource "aws_s3_bucket_versioning" "this" {
  bucket = module.bucket.id

  versioning_configuration {
    status = "Enabled"
  }

  lifecycle {
    precondition {
      condition     = contains(local.archives, "billing-bootstrap-${var.release_version}.tar.gz")
      error_message = "release_folder has no billing-bootstrap-${var.release_version}.tar.gz of ./billing package."
    }
  }
}

resource "aws_s3_object" "archive" {
  for_each   = toset(local.archives)
  depends_on = [aws_s3_bucket_versioning.this]

  bucket      = module.bucket.id
  key         = "${var.release_version}/${each.key}"
  source      = "${var.folder}/${each.key}"
  source_hash = filesha256("${var.folder}/${each.key}")
}
