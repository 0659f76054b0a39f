#!/usr/bin/env bash
# Stores generated passwords in the systems manager's parameter store, where Terraform and its state never see them.
# Existing ones stay, so that it may be run again; --rotate overwrites them.
set -euo pipefail

usage() {
  cat >&2 <<'USAGE'
usage: deploy/terraform/secrets.sh [--prefix /billing] [--region us-east-1] [--rotate] [--list] [--delete] [NAME...]

Creates the given secrets, by default all but those of receivers, as SecureString parameters below the prefix.
webhooks/RECEIVER is what the events for a receiver are signed with.
  --rotate  overwrites existing ones; the former one stays after the new one and a space.
            Machines read them when install.sh runs again.
  --list    only prints their names
  --delete  deletes them
USAGE
  exit 2
}

all=(
  kafka/admin kafka/balance-backend kafka/operator kafka/payment-backend kafka/proxy kafka/webhooks
  postgres/audit postgres/backend postgres/owner postgres/patroni postgres/replication postgres/webhooks
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
      [[ " ${all[*]} " == *" $1 "* || $1 =~ ^webhooks/[a-z0-9][a-z0-9_-]{0,62}$ ]] || {
        echo "secrets.sh: unknown secret $1; the secrets are ${all[*]} webhooks/RECEIVER" >&2
        exit 2
      }
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
  found=$(aws ssm describe-parameters --parameter-filters "Key=Name,Values=$1" \
    --query 'length(Parameters)' --output text)
  [[ $found != 0 ]]
}

# value PARAMETER: a new value. 32 letters and digits are also the base64 of 24 bytes.
value() {
  local kind='' former=''
  [[ $1 != "$prefix"/webhooks/* ]] || kind=whsec_
  if [[ $do == rotate ]] && exists "$1"; then
    former=$(aws ssm get-parameter --with-decryption --name "$1" --query Parameter.Value --output text)
    former=" ${former%% *}"
  fi
  printf '%s%s%s' "$kind" "$(password)" "$former"
}

# The password goes through a pipe: every user of the machine can read arguments.
put() {
  local new
  new=$(value "$1")
  printf '{"Name": "%s", "Value": "%s", "Type": "SecureString", "Overwrite": %s}' "$1" "$new" "$2" |
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
