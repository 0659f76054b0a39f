variable "name" {
  description = "The prefix of all names."
  type        = string
}

variable "vpc_id" {
  description = "The network."
  type        = string
}

variable "rules" {
  description = "The topology's rules: the allowed connections."
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
  description = "Existing tiers outside the platform, each with its networks."
  type        = map(list(string))
}
