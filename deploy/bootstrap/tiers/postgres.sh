# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # What common.sh reads and sets.
# The database: Debian's PostgreSQL 15, with roles for each kind of program and a continuous archive of its write-ahead log.

postgres_settings=/etc/postgresql/15/main

install_tier() {
  need_packages postgresql-15 zstd
  # For the audit, which checks a restored database.
  install_program cli
  install -d -o postgres -g postgres -m 700 /var/backups/billing /var/backups/billing/wal /var/backups/billing/base
  put_file /usr/local/sbin/billing-archive root:root 755 <"$BILLING_BOOTSTRAP/postgres/archive.sh"
  put_file /usr/local/sbin/billing-backup root:root 755 <"$BILLING_BOOTSTRAP/postgres/backup.sh"
  put_file /usr/local/sbin/billing-backup-metrics root:root 755 <"$BILLING_BOOTSTRAP/postgres/metrics.sh"
  put_file /usr/local/sbin/billing-restore root:root 755 <"$BILLING_BOOTSTRAP/postgres/restore.sh"
  if [[ ! -e $postgres_settings/conf.d/billing.conf ]]; then
    add_checksums
  fi
  changed=0
  put_file "$postgres_settings/conf.d/billing.conf" root:root 644 <<END
listen_addresses = '127.0.0.1,$BILLING_ADDRESS'
$(<"$BILLING_BOOTSTRAP/postgres/postgresql.conf")
END
  local access
  access=$(<"$BILLING_BOOTSTRAP/postgres/pg_hba.conf")
  put_file "$postgres_settings/pg_hba.conf" postgres:postgres 640 <<<"${access//NETWORK/$BILLING_NETWORK}"
  put_file /etc/systemd/system/postgresql@15-main.service.d/billing.conf root:root 644 <"$BILLING_BOOTSTRAP/units/postgresql.conf"
  systemctl daemon-reload
  systemctl enable --quiet postgresql@15-main
  if ((changed)); then
    systemctl restart postgresql@15-main
  else
    systemctl start postgresql@15-main
  fi
  retry as_superuser -c 'select 1' >/dev/null
  make_roles
  local unit
  for unit in billing-backup{,-metrics}.{service,timer}; do
    put_file "/etc/systemd/system/$unit" root:root 644 <"$BILLING_BOOTSTRAP/units/$unit"
  done
  systemctl daemon-reload
  systemctl enable --quiet --now billing-backup.timer billing-backup-metrics.timer
  # The first one: a restore needs one from before the moment that it restores.
  systemctl start billing-backup.service
}

# While nothing is in it yet: a page that the disk has changed is then an error and not a wrong balance.
add_checksums() {
  local programs=/usr/lib/postgresql/15/bin data=/var/lib/postgresql/15/main
  systemctl stop postgresql@15-main
  if "$programs/pg_controldata" "$data" | grep -q 'page checksum version: *0$'; then
    runuser -u postgres -- "$programs/pg_checksums" --enable --pgdata "$data"
  fi
}

as_superuser() { runuser -u postgres -- psql -q -v ON_ERROR_STOP=1 "$@"; }

# The passwords are passed over standard input: every user of the machine can read arguments.
make_roles() {
  as_superuser -f "$BILLING_BOOTSTRAP/postgres/roles.sql"
  local role password
  for role in owner backend audit; do
    password=$(secret "postgres/$role")
    as_superuser <<<"alter role billing_$role password '${password//\'/\'\'}';"
  done
}
