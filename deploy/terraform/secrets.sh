#!/usr/bin/env bash
# Stores generated passwords in the systems manager's parameter store, where Terraform and its state never see them. Existing ones
# stay, so that it may be run again; --rotate overwrites them.
set -euo pipefail

usage() {
  cat >&2 <<'USAGE'
usage: deploy/terraform/secrets.sh [--prefix /billing] [--region us-east-1] [--rotate] [--list] [--delete] [NAME...]

Creates the given secrets, by default all, as SecureString parameters below the prefix.
  --rotate  overwrites existing ones; machines read them when install.sh runs again
  --list    only prints their names
  --delete  deletes them
USAGE
  exit 2
}

all=(
  kafka/admin kafka/balance-backend kafka/operator kafka/payment-backend kafka/proxy
  postgres/audit postgres/backend postgres/owner postgres/patroni postgres/replication
)
prefix=/billing
do="make"
names=()

while (($#)); do
  case $1 in
    --prefix) prefix=${2:?--prefix needs a path} && shift ;;
    --region) export AWS_REGION=${2:?--region needs a name} && shift ;;
    --rotate) do=rotate ;;
    --list) do=list ;;
    --delete) do=delete ;;
    -*) usage ;;
    *)
      [[ " ${all[*]} " == *" $1 "* ]] || { echo "secrets.sh: unknown secret $1; the secrets are ${all[*]}" >&2 && exit 2; }
      names+=("$1")
      ;;
  esac
  shift
done
[[ $prefix =~ ^(/[A-Za-z0-9._-]+)+$ ]] || { echo "secrets.sh: --prefix must be a path such as /billing" >&2 && exit 2; }
((${#names[@]})) || names=("${all[@]}")

# Letters and digits only, which need no quoting: 32 of 62 characters are 190 bits.
password() {
  local bytes
  bytes=$(head -c 512 /dev/urandom | LC_ALL=C tr -dc 'A-Za-z0-9')
  printf '%s' "${bytes:0:32}"
}

exists() {
  local found
  found=$(aws ssm describe-parameters --parameter-filters "Key=Name,Values=$1" --query 'length(Parameters)' --output text)
  [[ $found != 0 ]]
}

# The password goes through a pipe: every user of the machine can read arguments.
put() {
  printf '{"Name": "%s", "Value": "%s", "Type": "SecureString", "Overwrite": %s}' "$1" "$(password)" "$2" |
    aws ssm put-parameter --cli-input-json file:///dev/stdin --output text >/dev/null
}

for name in "${names[@]}"; do
  parameter=$prefix/$name
  case $do in
    list) echo "$parameter" ;;
    delete)
      if exists "$parameter"; then aws ssm delete-parameter --name "$parameter"; fi
      echo "$parameter is deleted"
      ;;
    rotate)
      put "$parameter" true
      echo "$parameter has a new value"
      ;;
    make)
      if exists "$parameter"; then
        echo "$parameter exists already"
      else
        put "$parameter" false
        echo "$parameter is created"
      fi
      ;;
  esac
done
