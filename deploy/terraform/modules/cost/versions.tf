# This module needs no provider: it contains a table and a sum.
terraform {
  required_version = ">= 1.5.7"
}
