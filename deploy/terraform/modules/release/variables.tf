variable "bucket" {
  description = "The bucket's name."
  type        = string
}

variable "folder" {
  description = "The folder with the archives of ./billing package."
  type        = string
}

variable "release_version" {
  description = "The release."
  type        = string
}
