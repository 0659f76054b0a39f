# shellcheck shell=bash
# Functions for the installation of all tiers: settings, packages, archives, secrets, files and services.

# Whether a file that the tier's service depends on has changed since the service was last started.
changed=0

# The folders of the programs and of their settings.
programs=/opt/billing
settings_folder=/etc/billing
hosts_file=/etc/hosts
# The authorities that may have signed the certificates of the database's servers, of the brokers, and of proxies.
database_authority=$settings_folder/tls/database-ca.pem
broker_authority=$settings_folder/tls/brokers-ca.pem
proxy_authority=$settings_folder/tls/proxies-ca.pem
cloud_settings=/etc/cloud/cloud.cfg.d

say() { printf 'billing: %s\n' "$*"; }

die() {
  printf 'billing: %s\n' "$*" >&2
  exit 1
}

# load_settings FILE: reads lines of the form NAME=VALUE, as systemd does.
load_settings() {
  [[ -f $1 ]] || die "$1 is missing: it must contain this machine's settings"
  set -a
  # shellcheck disable=SC1090 # Written by the machine's user data.
  . "$1"
  set +a
}

require_settings() {
  local name
  for name in "$@"; do
    [[ -n ${!name:-} ]] || die "$name is missing in /etc/billing/host.env"
  done
}

tiers() {
  local names=("$BILLING_BOOTSTRAP"/tiers/*.sh)
  names=("${names[@]##*/}")
  printf '%s ' "${names[@]%.sh}"
}

# need_packages PACKAGE...: installs Debian packages. On the first boot, the cloud's start-up may hold the
# lock for some time.
need_packages() {
  local missing=() package
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null) == ii* ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  say "installing ${missing[*]}"
  retry apt-get -q -o DPkg::Lock::Timeout=300 update
  DEBIAN_FRONTEND=noninteractive retry \
    apt-get -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 install "${missing[@]}"
}

# retry COMMAND...: for commands that depend on other machines, which may need some minutes when all of them boot.
retry() {
  local attempt
  for attempt in {1..60}; do
    if "$@"; then
      return 0
    fi
    say "attempt $attempt of 60 failed: $1" >&2
    sleep 5
  done
  die "failed 60 times: $*"
}

# fetch FILE TARGET: downloads a file of the release.
fetch() {
  case $BILLING_RELEASE in
    s3://*)
      need_packages awscli
      retry aws s3 cp --only-show-errors "$BILLING_RELEASE/$1" "$2"
      ;;
    *) retry curl --fail --silent --show-error --location --output "$2" "$BILLING_RELEASE/$1" ;;
  esac
}

# set_variable NAME VALUE: changes a variable in host.env.
set_variable() {
  sed -i "/^$1=/d" /etc/billing/host.env
  printf "%s='%s'\n" "$1" "$2" >>/etc/billing/host.env
}

# install_archive NAME ARCHIVE: unpacks an archive of the release to NAME-RELEASE below the programs' folder and makes
# NAME point there. The archive must match SHA256SUMS, which is part of this script's archive. Sets `changed`. The
# previous release stays for a rollback.
install_archive() {
  local name="$1" archive="$2" target folder
  target="$programs/${archive%.tar.gz}"
  if [[ ! -d $target ]]; then
    folder=$(mktemp -d "$programs/.unpack.XXXXXX")
    fetch "$archive" "$folder/$archive"
    (cd "$folder" && grep -F "  $archive" "$BILLING_BOOTSTRAP/SHA256SUMS" | sha256sum --check --strict --status) || {
      rm -rf -- "$folder"
      die "$archive does not match its checksum in SHA256SUMS"
    }
    mkdir "$folder/content"
    tar -xzf "$folder/$archive" -C "$folder/content" --strip-components=1 --no-same-owner
    chmod -R go+rX "$folder/content"
    mv -T -- "$folder/content" "$target"
    rm -rf -- "$folder"
  fi
  if [[ -f $target/REQUIRES ]]; then
    mapfile -t required <"$target/REQUIRES"
    need_packages "${required[@]}"
  fi
  if [[ $(readlink -- "$programs/$name" || true) != "$target" ]]; then
    ln -sfn -- "$target" "$programs/.$name.new"
    mv -T -- "$programs/.$name.new" "$programs/$name"
    changed=1
  fi
}

# architecture: prints this machine's, as in the archives' names.
architecture() {
  case $(dpkg --print-architecture) in
    amd64) printf linux-x64 ;;
    arm64) printf linux-arm64 ;;
    *) die "there is no release for $(dpkg --print-architecture)" ;;
  esac
}

# install_program NAME: installs one of the platform's programs.
install_program() {
  install_archive "$1" "billing-$1-$BILLING_VERSION-$(architecture).tar.gz"
}

# stored NAME: prints what is kept below BILLING_SECRETS.
stored() {
  case $BILLING_SECRETS in
    ssm:*)
      need_packages awscli >&2
      retry aws ssm get-parameter --with-decryption --name "${BILLING_SECRETS#ssm:}/$1" \
        --query Parameter.Value --output text
      ;;
    file:*) cat -- "${BILLING_SECRETS#file:}/$1" ;;
    *) die "BILLING_SECRETS=$BILLING_SECRETS: must begin with ssm: or file:" ;;
  esac
}

# secret NAME: prints the secret; while it is replaced, the new value and, after a space, the former one.
# Never use it as an argument of a program or in a file that others than its reader may open.
secret() {
  local value
  value=$(stored "$1")
  # Secrets are written to four kinds of files, each with its own rules for quoting other characters.
  [[ $value =~ ^[A-Za-z0-9+/=._-]{8,200}( [A-Za-z0-9+/=._-]{8,200})?$ ]] ||
    die "the secret $1 in $BILLING_SECRETS must be 8 to 200 letters, digits and + / = . _ -," \
      'or two such values with a space between'
  printf '%s' "$value"
}

# password NAME: prints the present value of a secret, never the former one.
password() {
  local value
  value=$(secret "$1")
  printf '%s' "${value%% *}"
}

# pem NAME: prints certificates, or a key and its certificate.
pem() {
  local value
  value=$(stored "$1")
  [[ $value == *-----BEGIN\ CERTIFICATE-----*-----END\ CERTIFICATE-----* ]] ||
    die "the secret $1 in $BILLING_SECRETS must be a certificate, or several, in PEM"
  printf '%s\n' "$value"
}

# former_password_settings SECTION SECRET: adds a setting with the former value of what `secret`
# printed, if there is one.
former_password_settings() {
  [[ $2 != *' '* ]] || settings+=("$1:FormerPassword" "${2#* }")
}

# proxies: prints the name of each proxy in a line.
proxies() {
  local host
  for host in ${BILLING_HOSTS//,/ }; do
    [[ $host != proxy-* ]] || printf '%s\n' "${host%%=*}"
  done
}

# kafka_principals: prints the accounts on the brokers, each with a secret of its name below kafka/. The
# administrator's is the last one.
kafka_principals() {
  proxies
  printf '%s\n' payment-backend balance-backend webhooks operator admin
}

# put_file PATH OWNER MODE: replaces the file atomically by standard input if the content differs. Sets `changed`.
put_file() {
  local new
  mkdir -p -- "$(dirname -- "$1")"
  new=$(mktemp "$(dirname -- "$1")/.new.XXXXXX")
  cat >"$new"
  chown "$2" "$new"
  chmod "$3" "$new"
  if cmp -s -- "$new" "$1"; then
    rm -f -- "$new"
  else
    mv -f -- "$new" "$1"
    changed=1
  fi
}

# own_user NAME: creates a system account without a shell, with its own group.
own_user() {
  id "$1" >/dev/null 2>&1 ||
    useradd --system --user-group --home-dir /nonexistent --no-create-home --shell /usr/sbin/nologin "$1"
}

# run_service UNIT: enables and starts the service; restarts it if one of its files has changed.
run_service() {
  put_file "/etc/systemd/system/$1" root:root 644 <"$BILLING_BOOTSTRAP/units/$1"
  run_unit "$1"
}

# run_unit UNIT [OPTION...]: the same for a unit that is there, with options of systemctl.
run_unit() {
  local how=start
  systemctl daemon-reload
  systemctl enable --quiet "$1"
  ((!changed)) || how=restart
  systemctl "${@:2}" "$how" "$1"
}

# wait_until_ready URL UNIT [CERTIFICATE]: waits up to ten minutes. A service restarts until its dependencies are
# available. With https it must have this certificate.
wait_until_ready() {
  local second problem
  for ((second = 0; second < 600; second += 2)); do
    if problem=$(curl --fail --silent --show-error --output /dev/null --max-time 2 ${3:+--cacert "$3"} "$1" 2>&1); then
      return 0
    fi
    sleep 2
  done
  journalctl --no-pager -n 20 -u "$2" >&2 || true
  die "$2 was not ready at $1 within ten minutes: $problem"
}

# Installs the parts that every machine has: an account for the services, a journal of limited size, the node
# exporter, and the names of all machines in /etc/hosts, so that a look-up, as a broker makes at each connection,
# never waits for a name server.
install_base() {
  put_host_names
  changed=0
  need_packages curl ca-certificates prometheus-node-exporter
  own_user billing
  mkdir -p "$programs"
  put_file /etc/systemd/journald.conf.d/billing.conf root:root 644 <"$BILLING_BOOTSTRAP/units/journald.conf"
  if ((changed)); then
    systemctl restart systemd-journald
  fi
  changed=0
  local exporter="--web.listen-address=$BILLING_ADDRESS:9100"
  [[ $BILLING_TIER != postgres ]] || exporter+=" --collector.textfile.directory=/run/billing-metrics"
  put_file /etc/default/prometheus-node-exporter root:root 644 <<<"ARGS=\"$exporter\""
  if ((changed)); then
    systemctl restart prometheus-node-exporter
  fi
  changed=0
}

# A cloud's start-up would write its own file again at each boot.
put_host_names() {
  put_file "$hosts_file" root:root 644 < <(host_names)
  if [[ -d $cloud_settings ]]; then
    put_file "$cloud_settings/99-billing.cfg" root:root 644 <<<'manage_etc_hosts: false'
  fi
}

host_names() {
  local host
  printf '127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n'
  for host in ${BILLING_HOSTS//,/ }; do
    printf '%s %s\n' "${host#*=}" "${host%%=*}"
  done
}

# The following functions fill `settings`, alternating names and values of a program's settings, and write
# its settings file.

# kafka_settings PRINCIPAL: adds the settings for the connection to the brokers.
kafka_settings() {
  local secret
  secret=$(secret "kafka/$1")
  settings+=(
    Billing:Kafka:BootstrapServers "$BILLING_KAFKA"
    Billing:Kafka:Partitions "$BILLING_PARTITIONS"
    Billing:Kafka:Properties:security.protocol SASL_SSL
    Billing:Kafka:Properties:ssl.ca.location "$broker_authority"
    Billing:Kafka:Properties:sasl.mechanism SCRAM-SHA-512
    Billing:Kafka:Properties:sasl.username "$1"
    Billing:Kafka:Properties:sasl.password "${secret%% *}"
  )
  former_password_settings Billing:Kafka "$secret"
}

# databases: prints a line for each database: its name, and its servers separated by commas. The only one may have no
# name in BILLING_POSTGRES.
databases() {
  local database
  for database in $BILLING_POSTGRES; do
    [[ $database == *=* ]] || database=billing=$database
    printf '%s %s\n' "${database%%=*}" "${database#*=}"
  done
}

# put_pem NAME PATH OWNER MODE: puts what `pem` prints into a file, as put_file does.
put_pem() {
  local value
  value=$(pem "$1")
  put_file "${@:2}" <<<"$value"
}

# put_database_authority: programs read the file at each connection: none needs a restart.
put_database_authority() {
  local name=tls/postgres-ca restarts=$changed
  [[ $BILLING_POSTGRES_OWN != true ]] || name=tls/ca
  put_pem "$name" "$database_authority" root:root 644
  changed=$restarts
}

# put_broker_authority: programs read the file when they start.
put_broker_authority() {
  local name=tls/kafka-ca
  [[ -z ${BILLING_KAFKA_NODES:-} ]] || name=tls/ca
  put_pem "$name" "$broker_authority" root:root 644
}

# put_proxy_authority: those who call proxies read the file at each connection.
put_proxy_authority() {
  local restarts=$changed
  put_pem tls/ca "$proxy_authority" root:root 644
  changed=$restarts
}

# postgres_connection ROLE SERVERS: prints the Npgsql connection string of billing_ROLE.
postgres_connection() {
  local password
  password=$(password "postgres/$1")
  printf 'Host=%s;Database=billing;Username=%s;Password=%s' "$2" "billing_$1" "$password"
  printf ';SSL Mode=VerifyFull;Root Certificate=%s' "$database_authority"
  # Npgsql refuses it with one server.
  [[ $2 != *,* ]] || printf ';Target Session Attributes=primary'
}

# put_settings FOLDER GROUP: writes FOLDER/appsettings.json below the settings' folder, readable by root
# and the group only.
put_settings() {
  local number text='{' separator=
  for ((number = 0; number < ${#settings[@]}; number += 2)); do
    text+="$separator"$'\n'"  \"${settings[number]}\": \"${settings[number + 1]}\""
    separator=,
  done
  install -d -o root -g "$2" -m 750 "$settings_folder/$1"
  put_file "$settings_folder/$1/appsettings.json" "root:$2" 640 <<<"$text"$'\n}'
}
