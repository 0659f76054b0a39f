variable "instance_types" {
  description = "The instance type of every machine."
  type        = list(string)
}

variable "volumes_gib" {
  description = "The size of every machine's volume."
  type        = list(number)
}

variable "public_load_balancer_addresses" {
  description = "Public addresses of the load balancer: one in each zone, or none if it is internal."
  type        = number
}

variable "databases" {
  description = "RDS instances: none or one."
  type        = list(object({ class = string, storage_gib = number, multi_az = bool }))
}
