variable "name" {
  description = "The prefix of all names."
  type        = string
}

variable "region" {
  description = "The region."
  type        = string
}

variable "cidr" {
  description = "The network that the machines share."
  type        = string
}

variable "subnets" {
  description = "A subnet for each zone."
  type        = list(object({ zone = string, cidr = string }))
}
