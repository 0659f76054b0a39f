# The rules that tflint brings along; those of its AWS plugin would have to be downloaded.
config {
  call_module_type = "local"
}

plugin "terraform" {
  enabled = true
  preset  = "all"
}

# Small modules have no README of their own and need not say again that they are standard.
rule "terraform_standard_module_structure" {
  enabled = false
}
