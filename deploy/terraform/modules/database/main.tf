resource "aws_db_subnet_group" "this" {
  name       = var.name
  subnet_ids = var.subnet_ids
  tags       = { Name = var.name }
}

resource "aws_db_instance" "this" {
  identifier                  = "${var.name}-postgres"
  engine                      = "postgres"
  engine_version              = var.engine_version
  instance_class              = var.instance_class
  db_name                     = "billing"
  username                    = "master"
  manage_master_user_password = true

  storage_type          = "gp3"
  storage_encrypted     = true
  allocated_storage     = var.storage_gib
  max_allocated_storage = 10 * var.storage_gib

  db_subnet_group_name   = aws_db_subnet_group.this.name
  vpc_security_group_ids = [var.security_group_id]
  publicly_accessible    = false
  multi_az               = var.multi_az
  port                   = 5432

  backup_retention_period   = 7
  copy_tags_to_snapshot     = true
  deletion_protection       = var.deletion_protection
  skip_final_snapshot       = false
  final_snapshot_identifier = "${var.name}-postgres-final"
  tags                      = { Name = "${var.name}-postgres" }
}
