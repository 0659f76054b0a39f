variable "name" {
  description = "Goes before the name of everything."
  type        = string
}

variable "internal" {
  description = "Whether only the network, and what is connected to it, can reach the load balancer."
  type        = bool
}

variable "vpc_id" {
  description = "The network."
  type        = string
}

variable "subnet_ids" {
  description = "The subnets."
  type        = list(string)
}

variable "security_group_id" {
  description = "The load balancer's security group."
  type        = string
}

variable "proxy_ids" {
  description = "The proxies' instances, by name."
  type        = map(string)
}
