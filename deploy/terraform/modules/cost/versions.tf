# No provider: a table and a sum.
terraform {
  required_version = ">= 1.5.7"
}
