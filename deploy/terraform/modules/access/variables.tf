variable "name" {
  description = "The prefix of all names."
  type        = string
}

variable "region" {
  description = "The region; it is part of the roles' names, as roles belong to the whole account."
  type        = string
}

variable "machines" {
  description = "The tier of each machine, by the machine's name."
  type        = map(string)
}

variable "kafka_own" {
  description = "Whether the brokers run on machines of the platform, whose certificates its own authority signs."
  type        = bool
}

variable "postgres_own" {
  description = "Whether the database runs on machines of the platform, whose certificates its own authority signs."
  type        = bool
}

variable "insecure" {
  description = "Whether proxies have neither TLS nor tokens."
  type        = bool
}

variable "tokens_own" {
  description = "Whether proxies verify tokens with the key set in the parameter store, not with a provider's."
  type        = bool
}

variable "etcd" {
  description = "The names of the machines on which etcd runs."
  type        = list(string)
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
