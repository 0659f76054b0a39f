variable "name" {
  description = "The prefix of all names."
  type        = string
}

variable "internal" {
  description = "Whether the load balancer is only reachable from the network and from networks connected to it."
  type        = bool
}

variable "insecure" {
  description = "Whether proxies have no TLS."
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
