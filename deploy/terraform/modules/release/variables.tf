variable "bucket" {
  description = "The bucket's name."
  type        = string
}

variable "folder" {
  description = "The folder of the archives that ./billing package makes."
  type        = string
}

variable "release_version" {
  description = "The release."
  type        = string
}
