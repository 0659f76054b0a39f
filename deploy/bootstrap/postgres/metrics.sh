#!/usr/bin/env bash
# Writes the state of the server, its archive and its backups to a file for the node exporter; as the user postgres:
#   billing-backup-metrics FILE
# It needs no session with the server: the figures are needed most when there is none, or when the disk is full,
# hence FILE is in memory, in /run. Backups that cannot be read count as none.
set -euo pipefail

running=0
! pg_isready --quiet --timeout=5 || running=1
ends=$(openssl x509 -in /etc/billing/tls/postgres.pem -noout -enddate 2>/dev/null) &&
  expiry=$(date -d "${ends#notAfter=}" +%s) || expiry=0
cat >"$1.new" <<END
# HELP billing_certificate_expiry_timestamp_seconds Until when the server's certificate is valid; 0 if there is none.
# TYPE billing_certificate_expiry_timestamp_seconds gauge
billing_certificate_expiry_timestamp_seconds $expiry
# HELP billing_database_running Whether the server accepts connections, as the primary or as a standby.
# TYPE billing_database_running gauge
billing_database_running $running
END
# A standby neither archives nor makes backups.
if [[ -e /var/lib/postgresql/15/main/standby.signal ]]; then
  mv -- "$1.new" "$1"
  exit
fi
waiting=$(find /var/lib/postgresql/15/main/pg_wal/archive_status -name '*.ready' | wc -l)
newest=$(pgbackrest --stanza=billing --output=json info |
  python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["backup"][-1]["timestamp"]["stop"])' 2>/dev/null) ||
  newest=0
cat >>"$1.new" <<END
# HELP billing_archive_waiting_segments Segments of the write-ahead log that are not archived yet.
# TYPE billing_archive_waiting_segments gauge
billing_archive_waiting_segments $waiting
# HELP billing_backup_newest_timestamp_seconds When the newest backup was made; 0 if there is none.
# TYPE billing_backup_newest_timestamp_seconds gauge
billing_backup_newest_timestamp_seconds $newest
END
mv -- "$1.new" "$1"
