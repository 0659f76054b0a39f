# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # What common.sh reads and sets.
# A machine of the database: Debian's PostgreSQL 15, with roles for each kind of program, under Patroni, which
# makes one machine the primary and the others its standbys, and pgBackRest, which keeps backups and the
# write-ahead log elsewhere.

data=/var/lib/postgresql/15/main
# The server's key and its certificate.
server_certificate=$settings_folder/tls/postgres.pem

install_tier() {
  require_settings BILLING_ETCD BILLING_BACKUP
  # Patroni creates the cluster: the package must not.
  put_file /etc/postgresql-common/createcluster.d/billing.conf root:root 644 <<<'create_main_cluster = false'
  need_packages postgresql-15 patroni pgbackrest
  # For the tables, and for the audit, which checks a restored database.
  install_program operator
  put_file /usr/local/sbin/billing-archived root:root 755 <"$BILLING_BOOTSTRAP/postgres/archived.sh"
  put_file /usr/local/sbin/billing-backup root:root 755 <"$BILLING_BOOTSTRAP/postgres/backup.sh"
  put_file /usr/local/sbin/billing-backup-metrics root:root 755 <"$BILLING_BOOTSTRAP/postgres/metrics.sh"
  put_file /usr/local/sbin/billing-restore root:root 755 <"$BILLING_BOOTSTRAP/postgres/restore.sh"
  local settings restarts
  settings=$(backup_settings)
  put_file /etc/pgbackrest.conf root:postgres 640 <<<"$settings"
  changed=0
  put_file /etc/billing/postgresql.conf root:root 644 <"$BILLING_BOOTSTRAP/postgres/postgresql.conf"
  put_file /etc/systemd/system/patroni.service.d/billing.conf root:root 644 <"$BILLING_BOOTSTRAP/units/patroni.conf"
  restarts=$changed
  put_database_authority
  put_server_certificate
  settings=$(patroni_settings)
  put_file /etc/patroni/config.yml root:postgres 640 <<<"$settings"
  # New passwords, certificates and authorities need no restart, which would end the primary.
  if ((!restarts)) && systemctl is-active --quiet patroni; then
    systemctl reload patroni
    changed=0
  fi
  run_unit patroni
  retry is_member
  if is_primary; then
    make_roles
    # With billing-backup's lock: pgBackRest fails while another one of it runs.
    runuser -u postgres -- flock /run/lock/billing-backup pgbackrest --stanza=billing stanza-create ||
      die "$BILLING_BACKUP cannot be used, or has the backups of another database or with another password than" \
        'postgres/backup: set BILLING_BACKUP to an empty place'
  fi
  local unit
  for unit in billing-backup{,-metrics}.{service,timer}; do
    put_file "/etc/systemd/system/$unit" root:root 644 <"$BILLING_BOOTSTRAP/units/$unit"
  done
  systemctl daemon-reload
  systemctl enable --quiet --now billing-backup.timer billing-backup-metrics.timer
  # A restore needs one from before the moment that it restores.
  runuser -u postgres -- billing-backup --first
  # Whether or not it is the primary, which may become another one before all machines have a new release.
  [[ -n ${BILLING_DATABASE:-} ]] || retry make_tables
}

# Two weeks, each a full backup and those of the days after it. They are encrypted here, before they are stored.
backup_settings() {
  local password
  password=$(password postgres/backup)
  printf '[global]\n'
  backup_place
  cat <<END
repo1-cipher-type=aes-256-cbc
repo1-cipher-pass=$password
repo1-bundle=y
repo1-retention-full=2
compress-type=zst
compress-level=1
start-fast=y
archive-timeout=120
log-level-console=warn
log-level-file=off

[billing]
pg1-path=$data
END
}

# A further database has a folder of its own there.
backup_place() {
  local place=$BILLING_BACKUP${BILLING_DATABASE:+/$BILLING_DATABASE} region
  case $place in
    s3://*)
      need_packages awscli >&2
      region=$(aws configure get region) ||
        die "BILLING_BACKUP=$BILLING_BACKUP: set the bucket's region with \`aws configure set region NAME\`"
      place=${place#s3://}
      printf 'repo1-type=s3\nrepo1-s3-bucket=%s\nrepo1-s3-region=%s\n' "${place%%/*}" "$region"
      printf 'repo1-s3-endpoint=s3.%s.amazonaws.com\nrepo1-s3-key-type=auto\n' "$region"
      [[ $place == */* ]] || place+=/
      printf 'repo1-path=/%s\n' "${place#*/}"
      ;;
    /*)
      install -d -o postgres -g postgres -m 750 "$BILLING_BACKUP" "$place"
      printf 'repo1-path=%s\n' "$place"
      ;;
    *) die "BILLING_BACKUP=$BILLING_BACKUP: must be s3://BUCKET or a folder on a disk that outlives this machine's" ;;
  esac
}

# The server reads it again without a restart, as soon as Patroni has, too.
put_server_certificate() {
  local before=$changed
  changed=0
  put_pem tls/postgres "$server_certificate" root:postgres 640
  if ((changed)) && systemctl is-active --quiet patroni; then
    as_superuser -c 'select pg_reload_conf()' >/dev/null
  fi
  changed=$before
}

# is_member: whether the server runs, as the primary or as a standby of it.
is_member() { as_superuser -c 'select 1' >/dev/null && ask_patroni health; }

# ask_patroni STATE: whether Patroni says that its server is in this state. It answers those only who have a certificate
# of the platform's authority.
ask_patroni() {
  curl --fail --silent --output /dev/null --max-time 5 --cacert "$database_authority" --cert "$server_certificate" \
    "https://$BILLING_ADDRESS:8008/$1"
}

is_primary() { [[ $(as_superuser -At -c 'select pg_is_in_recovery()') == f ]]; }

# Patroni writes these into etcd when the first machine creates the cluster; afterwards `patronictl edit-config`
# changes them. The lock of the primary lasts nine seconds: then a standby takes over. Its renewal is tried every two
# seconds, for three each.
agreed_settings() {
  cat <<END
    ttl: 9
    loop_wait: 2
    retry_timeout: 3
    primary_start_timeout: 10
    synchronous_mode: true
    failsafe_mode: true
    postgresql:
      use_pg_rewind: true
      remove_data_directory_on_rewind_failure: true
      remove_data_directory_on_diverged_timelines: true
      parameters:
        max_connections: 100
        wal_sender_timeout: 5s
        wal_receiver_timeout: 5s
        # A standby that is away for longer reads the archive: its log would fill the primary's disk.
        max_slot_wal_keep_size: 2GB
END
}

patroni_settings() {
  local replication api access verified="sslmode: verify-full, sslrootcert: $database_authority"
  replication=$(password postgres/replication)
  api=$(password postgres/patroni)
  access=$(sed -e "s|NETWORK|$BILLING_NETWORK|; /^#/d; s/^/    - /" "$BILLING_BOOTSTRAP/postgres/pg_hba.conf")
  cat <<END
scope: billing
namespace: /${BILLING_DATABASE:-service}
name: $BILLING_NAME
restapi:
  listen: $BILLING_ADDRESS:8008
  connect_address: $BILLING_ADDRESS:8008
  certfile: $server_certificate
  cafile: $database_authority
  verify_client: required
  authentication: {username: patroni, password: "$api"}
etcd3:
  hosts: [$(sed 's/[^,]*/&:2379/g; s/,/, /g' <<<"$BILLING_ETCD")]
  protocol: https
  cacert: $database_authority
  cert: $server_certificate
  key: $server_certificate
bootstrap:
  dcs:
$(agreed_settings)
  initdb: [data-checksums, encoding: UTF8, locale: C.UTF-8, auth-local: peer, auth-host: scram-sha-256]
postgresql:
  listen: 127.0.0.1,$BILLING_ADDRESS:5432
  connect_address: $BILLING_ADDRESS:5432
  use_unix_socket: true
  use_unix_socket_repl: true
  data_dir: $data
  bin_dir: /usr/lib/postgresql/15/bin
  pgpass: /var/lib/postgresql/.pgpass-patroni
  custom_conf: /etc/billing/postgresql.conf
  basebackup: [checkpoint: fast]
  parameters:
    ssl: 'on'
    ssl_cert_file: $server_certificate
    ssl_key_file: $server_certificate
    ssl_min_protocol_version: TLSv1.3
  pg_hba:
$access
  authentication:
    superuser: {username: postgres}
    replication: {username: billing_replication, password: "$replication", $verified}
    rewind: {username: billing_rewind, password: "$replication", $verified}
END
}

as_superuser() { runuser -u postgres -- psql -q -v ON_ERROR_STOP=1 "$@"; }

make_roles() {
  local role
  as_superuser -f "$BILLING_BOOTSTRAP/postgres/roles.sql"
  for role in owner backend webhooks audit; do
    set_password "$role" "$role"
  done
  as_superuser -f "$BILLING_BOOTSTRAP/postgres/standby.sql"
  for role in replication rewind; do
    set_password "$role" replication
  done
}

# set_password ROLE SECRET: over standard input, as every user of the machine can read arguments.
set_password() {
  local password
  password=$(password "postgres/$2")
  as_superuser <<<"alter role billing_$1 password '${password//\'/\'\'}';"
}

# All databases at once, on the machines of the first one: to one that it is given alone, `schema` gives the shards of a
# new store.
make_tables() {
  local name servers owner options=()
  while read -r name servers; do
    owner=$(postgres_connection owner "$servers")
    options+=(--postgres "$name:$owner")
  done < <(databases)
  "$programs/operator/Billing.Operator" schema "${options[@]}" || return
  while read -r name servers; do
    grant_rights "$servers" || return
  done < <(databases)
}

# grant_rights SERVERS: one machine after the other, as two that grant the same right at once fail.
grant_rights() {
  local password hosts IFS=,
  read -ra hosts <<<"$1"
  password=$(password postgres/owner)
  PGPASSWORD=$password PGTARGETSESSIONATTRS=read-write PGSSLMODE=verify-full PGSSLROOTCERT=$database_authority \
    psql -q -v ON_ERROR_STOP=1 -o /dev/null -h "${hosts[*]%:*}" -p "${hosts[*]##*:}" -U billing_owner -d billing \
    -c "select pg_advisory_lock(hashtext('billing grants'))" -f "$BILLING_BOOTSTRAP/postgres/grants.sql"
}
