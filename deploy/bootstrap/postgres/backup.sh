#!/usr/bin/env bash
# Makes a base backup of the database, beside the archive of its write-ahead log in /var/backups/billing. Keeps the last seven
# backups and the log segments that they need. Runs as the user postgres.
set -euo pipefail

folder=/var/backups/billing
target="$folder/base/$(date -u +%Y%m%dT%H%M%SZ)"
pg_basebackup --pgdata "$target.new" --format tar --gzip --wal-method none --checkpoint fast
mv -- "$target.new" "$target"

mapfile -t backups < <(find "$folder/base" -mindepth 1 -maxdepth 1 -type d ! -name '*.new' | sort)
while ((${#backups[@]} > 7)); do
  rm -rf -- "${backups[0]}"
  backups=("${backups[@]:1}")
done
# The oldest backup names the first segment that it needs.
first=$(tar -xzOf "${backups[0]}/base.tar.gz" backup_label | sed -nE 's/^START WAL LOCATION: .* \(file ([0-9A-F]{24})\)$/\1/p')
/usr/lib/postgresql/15/bin/pg_archivecleanup "$folder/wal" "$first"
printf 'backup: %s\n' "$target"
