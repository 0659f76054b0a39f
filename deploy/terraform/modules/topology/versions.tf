# This module needs no provider: it only calculates, and runs wherever terraform runs.
terraform {
  required_version = ">= 1.5.7"
}
