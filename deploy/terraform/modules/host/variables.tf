variable "name" {
  description = "The prefix of all names."
  type        = string
}

variable "host" {
  description = "The machine, as in the topology."
  type        = object({ name = string, tier = string, address = string, instance_type = string, volume_gib = number })
}

variable "ami" {
  description = "The image."
  type        = string
}

variable "architecture" {
  description = "The image's architecture, amd64 or arm64."
  type        = string
}

variable "subnet_id" {
  description = "The zone's subnet."
  type        = string
}

variable "security_group_id" {
  description = "The tier's security group."
  type        = string
}

variable "profile" {
  description = "The tier's instance profile."
  type        = string
}

variable "user_data" {
  description = "The script that the machine runs at its first start."
  type        = string
}

variable "tags" {
  description = "Tags of the volume, which does not get the provider's default tags."
  type        = map(string)
}
