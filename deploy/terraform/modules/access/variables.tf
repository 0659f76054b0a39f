variable "name" {
  description = "The prefix of all names."
  type        = string
}

variable "region" {
  description = "The region; it is part of the roles' names, as roles belong to the whole account."
  type        = string
}

variable "tiers" {
  description = "The tiers that have machines."
  type        = set(string)
}

variable "parameters_arn" {
  description = "The prefix of the secrets in the parameter store, as an ARN without a slash at its end."
  type        = string
}

variable "release_arns" {
  description = "The release's bucket; none if the release is not in a bucket."
  type        = list(string)
}

variable "backup_arn" {
  description = "The bucket of the database's backups."
  type        = string
}
