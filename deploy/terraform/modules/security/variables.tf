variable "name" {
  description = "Goes before the name of everything."
  type        = string
}

variable "vpc_id" {
  description = "The network."
  type        = string
}

variable "rules" {
  description = "The topology's rules: who may connect to whom."
  type        = list(object({ from = string, to = string, port = number, protocol = string, why = string }))
}

variable "tiers" {
  description = "The tiers that have machines."
  type        = set(string)
}

variable "callers" {
  description = "The networks that may call the load balancer."
  type        = list(string)
}

variable "external" {
  description = "Tiers that are somebody else's, each with the networks it is in."
  type        = map(list(string))
}
