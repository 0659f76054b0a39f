#!/usr/bin/env bash
# Makes the platform's secrets: passwords, the certificates with which its machines know each other, and the key that
# signs callers' tokens. They are put into the systems manager's parameter store, where Terraform and its state never
# see them, or into a folder. Existing ones stay, so that it may be run again; --rotate overwrites them.
set -euo pipefail
shopt -s inherit_errexit

usage() {
  cat >&2 <<'USAGE'
usage: deploy/terraform/secrets.sh [--prefix /billing] [--region us-east-1] [--folder FOLDER] [--proxies 3]
                                   [--network 10.20.0.0/16] [--name NAME]... [--rotate] [--list] [--delete] [NAME...]
       deploy/terraform/secrets.sh [--prefix /billing] [--region us-east-1] [--folder FOLDER] --from FILE NAME

Creates the given secrets, by default all but those of receivers, as SecureString parameters below the prefix.
webhooks/RECEIVER is what the events for a receiver are signed with.
  --folder   keeps them as files in this folder instead, which only its owner may open
  --proxies  how many proxies there are: each has a password of its own, kafka/proxy-1 and so on
  --network  the network of the machines (network_cidr): certificates name the addresses in it
  --name     a name by which callers reach the proxies, such as the load balancer's, for tls/proxy; several may be
             given. A new certificate keeps the names of the former one unless it is given others.
  --rotate   overwrites existing ones; the former password stays after the new one and a space.
             Machines read them when install.sh runs again. Three are only rotated if they are named: with tls/ca,
             certificates are signed by the new authority when they are rotated next, and both authorities are
             trusted; with tokens/jwks, proxies accept tokens of the new key and of the former one; with
             postgres/backup, backups begin again in an empty place.
  --from     the authority of existing servers, in PEM: NAME is tls/postgres-ca or tls/kafka-ca; or the key set of
             an existing issuer of tokens: NAME is tokens/jwks
  --list     only prints their names
  --delete   deletes them
USAGE
  exit 2
}

fail() {
  printf 'secrets.sh: %s\n' "$*" >&2
  exit 2
}

# The tiers whose machines have a certificate, each with the last part of its first machine's address: as in
# modules/topology. That of etcd is for the tiers on whose machines it runs: brokers, or proxies with existing brokers.
tiers=(kafka=11 postgres=21 etcd=11+31 proxy=31)
passwords=(
  kafka/admin kafka/balance-backend kafka/operator kafka/payment-backend kafka/webhooks
  postgres/audit postgres/backend postgres/backup postgres/owner postgres/patroni postgres/replication postgres/webhooks
)
# In the order in which they are made: the key of the authority signs the others.
certificates=(tls/ca-key tls/ca "${tiers[@]/#/tls/}")
certificates=("${certificates[@]%=*}")
# The key that signs tokens, and the key set with which proxies verify them.
tokens=(tokens/key tokens/jwks)
# What is made of a key, and so rotated together with it.
declare -A key_of=([tls/ca]=tls/ca-key [tokens/jwks]=tokens/key)
prefix=/billing
folder=''
from=''
proxies=3
network=10.20.0.0/16
caller_names=()
do="make"
names=()

while (($#)); do
  case $1 in
    --prefix) prefix=${2:?--prefix needs a path} && shift ;;
    --region) export AWS_REGION=${2:?--region needs a name} && shift ;;
    --folder) folder=${2:?--folder needs a path} && shift ;;
    --proxies) proxies=${2:?--proxies needs a number} && shift ;;
    --network) network=${2:?--network needs a network} && shift ;;
    --name) caller_names+=("${2:?--name needs a name}") && shift ;;
    --from) from=${2:?--from needs a file} && shift ;;
    --rotate) do=rotate ;;
    --list) do=list ;;
    --delete) do=delete ;;
    -*) usage ;;
    *) names+=("$1") ;;
  esac
  shift
done
[[ $prefix =~ ^(/[A-Za-z0-9._-]+)+$ ]] || fail '--prefix must be a path such as /billing'
[[ $proxies =~ ^([1-9]|[12][0-9]|30)$ ]] || fail '--proxies must be between 1 and 30'
for name in "${caller_names[@]}"; do
  [[ ${#name} -le 253 && $name =~ ^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?$ ]] ||
    fail "--name $name must be a host name in lower case, such as billing.example.com"
done
[[ $network =~ ^([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.0/(1[6-9]|2[0-2])$ ]] ||
  fail '--network must look like 10.20.0.0/16, with a prefix between 16 and 22'
network_start=$(((BASH_REMATCH[1] << 24) + (BASH_REMATCH[2] << 16) + (BASH_REMATCH[3] << 8)))
for ((number = 1; number <= proxies; number++)); do
  passwords+=("kafka/proxy-$number")
done
all=("${passwords[@]}" "${certificates[@]}" "${tokens[@]}")
if [[ -n $from ]]; then
  [[ ${#names[@]} == 1 && ${names[0]} =~ ^(tls/(kafka|postgres)-ca|tokens/jwks)$ ]] ||
    fail '--from needs one name: tls/postgres-ca, tls/kafka-ca or tokens/jwks'
  if [[ ${names[0]} == tokens/jwks ]]; then
    [[ $(<"$from") =~ ^[[:space:]]*\{.*\"keys\"[[:space:]]*:[[:space:]]*\[.*\}[[:space:]]*$ ]] ||
      fail "--from: $from must be a key set in JSON (RFC 7517)"
    ! grep -qE '"d"[[:space:]]*:' "$from" || fail "--from: $from must have no private key"
  else
    openssl x509 -in "$from" -noout || fail "--from: $from must be a certificate in PEM"
  fi
  do=rotate
  all+=("${names[0]}")
fi
for name in "${names[@]}"; do
  [[ " ${all[*]} " == *" $name "* || $name =~ ^webhooks/[a-z0-9][a-z0-9_-]{0,62}$ ]] ||
    fail "unknown secret $name; the secrets are ${all[*]} webhooks/RECEIVER"
  for made in "${!key_of[@]}"; do
    [[ $do != rotate || $name != "${key_of[$made]}" ]] || fail "$name is rotated with $made"
  done
done
if ((!${#names[@]})); then
  for name in "${all[@]}"; do
    # Machines that are not installed again yet would refuse the certificates of a new authority, and proxies the
    # tokens of a new key. A key set may be another issuer's. What is encrypted with a former password of the backups
    # cannot be read with a new one.
    [[ $do == rotate && ($name == tls/ca* || $name == tokens/* || $name == postgres/backup) ]] || names+=("$name")
  done
fi

# exists, get, put and delete NAME: the place where secrets are kept.
if [[ -n $folder ]]; then
  exists() { [[ -e $folder/$1 ]]; }
  get() { cat -- "$folder/$1"; }
  delete() { rm -- "$folder/$1"; }
  place() { printf '%s/%s' "$folder" "$1"; }
  put() {
    install -d -m 700 "$folder" "$(dirname -- "$folder/$1")"
    (umask 077 && cat >"$folder/$1.new")
    mv -- "$folder/$1.new" "$folder/$1"
  }
else
  exists() {
    local found
    found=$(aws ssm describe-parameters --parameter-filters "Key=Name,Values=$prefix/$1" \
      --query 'length(Parameters)' --output text)
    [[ $found != 0 ]]
  }
  get() { aws ssm get-parameter --with-decryption --name "$prefix/$1" --query Parameter.Value --output text; }
  delete() { aws ssm delete-parameter --name "$prefix/$1"; }
  place() { printf '%s/%s' "$prefix" "$1"; }
  # Through a pipe: every user of the machine can read arguments. What exists is only put when it is rotated.
  put() {
    local value overwrite=false
    value=$(cat)
    [[ $do != rotate ]] || overwrite=true
    value=${value//\\/\\\\} value=${value//\"/\\\"}
    printf '{"Name": "%s", "Value": "%s", "Type": "SecureString", "Overwrite": %s}' \
      "$prefix/$1" "${value//$'\n'/\\n}" "$overwrite" |
      aws ssm put-parameter --cli-input-json file:///dev/stdin --output text >/dev/null
  }
fi

# Letters and digits only, which need no quoting: 32 of 62 characters are 190 bits, and the base64 of 24 bytes.
password() {
  local bytes
  bytes=$(head -c 512 /dev/urandom | LC_ALL=C tr -dc 'A-Za-z0-9')
  printf '%s' "${bytes:0:32}"
}

# Keys are in files of this folder, only while this runs.
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

# new_key FILE
new_key() { (umask 077 && openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out "$1"); }

# The certificate of the authority, before that of the former one, which is trusted until the next rotation.
authority() {
  get tls/ca-key >"$work/ca-key"
  openssl req -new -x509 -key "$work/ca-key" -days 3650 \
    -subj "/CN=Billing authority of $(date -u +%Y-%m-%dT%H:%M:%SZ)" \
    -addext 'basicConstraints=critical,CA:TRUE,pathlen:0' -addext 'keyUsage=critical,keyCertSign,cRLSign'
  [[ ! -e $work/former ]] || first_certificate <"$work/former"
}

first_certificate() { sed '/-----END CERTIFICATE-----/q'; }

# caller_names: prints the names by which callers reach the proxies, those of the former certificate by default, each
# in a line.
caller_names() {
  if ((${#caller_names[@]})); then
    printf '%s\n' "${caller_names[@]}"
  elif exists tls/proxy; then
    get tls/proxy | openssl x509 -noout -ext subjectAltName | grep -oE 'DNS:[^, ]+' | sed 's/^DNS://; /^localhost$/d'
  fi
}

# addresses TIER: the addresses that machines of the tier may have, ten in each of three zones, as a certificate has
# them, and the names of proxies.
addresses() {
  local tier first zone machine address names text=IP:127.0.0.1,DNS:localhost
  if [[ $1 == proxy ]]; then
    names=$(caller_names)
    text+=${names:+,DNS:${names//$'\n'/,DNS:}}
  fi
  for tier in "${tiers[@]}"; do
    [[ $tier == "$1="* ]] || continue
    tier=${tier#*=}
    for first in ${tier//+/ }; do
      for zone in 0 1 2; do
        for ((machine = 0; machine < 10; machine++)); do
          address=$((network_start + (zone << 8) + first + machine))
          text+=",IP:$((address >> 24)).$((address >> 16 & 255)).$((address >> 8 & 255)).$((address & 255))"
        done
      done
    done
  done
  printf '%s' "$text"
}

# certificate TIER: a key and its certificate, which is valid for about a year.
certificate() {
  get tls/ca-key >"$work/ca-key"
  get tls/ca | first_certificate >"$work/ca"
  new_key "$work/key"
  cat >"$work/extensions" <<END
basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature
extendedKeyUsage=serverAuth,clientAuth
subjectAltName=$(addresses "$1")
END
  openssl req -new -key "$work/key" -subj "/CN=$1" -out "$work/request"
  openssl x509 -req -in "$work/request" -CA "$work/ca" -CAkey "$work/ca-key" \
    -set_serial "0x$(openssl rand -hex 16)" -days 397 -extfile "$work/extensions" -out "$work/certificate" \
    2>"$work/log" || {
    cat -- "$work/log" >&2
    fail "$(place tls/ca-key) is not the key of $(place tls/ca): rotate tls/ca"
  }
  cat -- "$work/key" "$work/certificate"
}

encoded() { basenc --base64url -w 0 | tr -d =; }

# key_set: the public half of the key of tokens (RFC 7517), before that of the former one.
key_set() {
  local id x y former=''
  get tokens/key | openssl pkey -pubout -outform DER -out "$work/public"
  id=$(sha256sum <"$work/public" | head -c 16)
  # The last 64 bytes are the point's coordinates.
  x=$(tail -c 64 "$work/public" | head -c 32 | encoded)
  y=$(tail -c 32 "$work/public" | encoded)
  # None of another issuer's key set.
  [[ ! -e $work/former ]] || former=$(grep -oE '\{"kty":"EC",[^}]*\}' "$work/former" | head -n 1) || former=''
  printf '{"keys":[{"kty":"EC","crv":"P-256","x":"%s","y":"%s","use":"sig","alg":"ES256","kid":"%s"}%s]}' \
    "$x" "$y" "$id" "${former:+,$former}"
}

# value NAME: prints a new value.
value() {
  local former=''
  case $1 in
    tls/ca-key | tokens/key)
      new_key "$work/new"
      cat -- "$work/new"
      ;;
    tls/ca) authority ;;
    tokens/jwks) key_set ;;
    tls/*) certificate "${1#tls/}" ;;
    *)
      if [[ $do == rotate ]] && exists "$1"; then
        former=$(get "$1")
        former=" ${former%% *}"
      fi
      [[ $1 != webhooks/* ]] || printf whsec_
      printf '%s%s' "$(password)" "$former"
      ;;
  esac
}

# store NAME
store() {
  local new
  new=$(value "$1")
  printf '%s' "$new" | put "$1"
}

if [[ -n $from ]]; then
  put "${names[0]}" <"$from"
  printf '%s is stored\n' "$(place "${names[0]}")"
  exit
fi
for name in "${names[@]}"; do
  case $do in
    list) printf '%s\n' "$(place "$name")" ;;
    delete)
      if exists "$name"; then delete "$name"; fi
      echo "$(place "$name") is deleted"
      ;;
    rotate)
      rm -f -- "$work/former"
      if [[ -n ${key_of[$name]:-} ]]; then
        get "$name" >"$work/former"
        store "${key_of[$name]}"
      fi
      store "$name"
      echo "$(place "$name") has a new value"
      ;;
    make)
      if exists "$name"; then
        [[ $name != tls/proxy || ${#caller_names[@]} == 0 ]] ||
          fail "$(place "$name") exists already: --rotate --name NAME $name makes one with other names"
        echo "$(place "$name") exists already"
      else
        store "$name"
        echo "$(place "$name") is created"
      fi
      ;;
  esac
done
