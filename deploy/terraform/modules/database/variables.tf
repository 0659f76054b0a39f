variable "name" {
  description = "The prefix of all names."
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
  description = "The volume's initial size; it may grow automatically up to ten times this size."
  type        = number
}

variable "multi_az" {
  description = "Whether there is a standby in another zone."
  type        = bool
}

variable "deletion_protection" {
  description = "Whether the database is protected from deletion."
  type        = bool
}
