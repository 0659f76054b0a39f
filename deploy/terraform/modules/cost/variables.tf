variable "instance_types" {
  description = "The instance type of every machine."
  type        = list(string)
}

variable "volume_gib" {
  description = "The size of each machine's volume."
  type        = number
}

variable "public_load_balancer_addresses" {
  description = "Public addresses of the load balancer: one in each zone, or none if it is internal."
  type        = number
}

variable "databases" {
  description = "RDS instances: none or one."
  type        = list(object({ class = string, storage_gib = number, multi_az = bool }))
}
