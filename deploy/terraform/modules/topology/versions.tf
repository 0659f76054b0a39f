# No provider: this module is arithmetic, and runs wherever terraform does.
terraform {
  required_version = ">= 1.5.7"
}
