# The rules that are built into tflint; those of its AWS plugin would have to be downloaded.
config {
  call_module_type = "local"
}

plugin "terraform" {
  enabled = true
  preset  = "all"
}

# Small modules need neither their own README nor the files of the standard structure.
rule "terraform_standard_module_structure" {
  enabled = false
}
