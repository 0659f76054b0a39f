variable "name" {
  description = "Goes before the name of everything."
  type        = string
}

variable "region" {
  description = "The region; roles are the account's, so their names say it."
  type        = string
}

variable "tiers" {
  description = "The tiers that have machines."
  type        = set(string)
}

variable "parameters_arn" {
  description = "The prefix of the parameter store below which the secrets are, as an ARN without a slash at its end."
  type        = string
}

variable "release_arns" {
  description = "The release's bucket; none where the release is no bucket."
  type        = list(string)
}
