variable "name" {
  description = "The bucket's name."
  type        = string
}

variable "force_destroy" {
  description = "Whether the bucket is deleted although it contains something."
  type        = bool
}
