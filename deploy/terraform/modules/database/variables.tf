variable "name" {
  description = "Goes before the name of everything."
  type        = string
}

variable "subnet_ids" {
  description = "The subnets."
  type        = list(string)
}

variable "security_group_id" {
  description = "The security group of the tier postgres."
  type        = string
}

variable "engine_version" {
  description = "PostgreSQL's version."
  type        = string
}

variable "instance_class" {
  description = "The instance class, such as db.t4g.micro."
  type        = string
}

variable "storage_gib" {
  description = "The volume's size at first; it may grow tenfold by itself."
  type        = number
}

variable "multi_az" {
  description = "Whether a standby waits in another zone."
  type        = bool
}

variable "deletion_protection" {
  description = "Whether the database refuses to be deleted."
  type        = bool
}
