#!/usr/bin/env bash
# Base backups of the database, beside the archive of its write-ahead log in /var/backups/billing. As the user postgres:
#   billing-backup               makes a base backup
#   billing-backup --if-due      makes one if there is none since 03:00, or if more log than a twelfth of the disk was archived since
# Afterwards the last seven backups are kept, with the log since the first of them; fewer where all this takes more than a third of the
# disk, but always the last one.
set -euo pipefail

folder=/var/backups/billing
backups_max=7

# The primary's are enough. After a failover, the first one of the new primary is due at once.
[[ ! -e /var/lib/postgresql/15/main/standby.signal ]] || exit 0

complete() { find "$folder/base" -mindepth 1 -maxdepth 1 -type d ! -name '*.new' | sort; }

# bytes DIRECTORY [NEWER]: the size of the files in it, or of those that are newer than a file.
bytes() {
  find "$1" -type f ${2:+-newer "$2"} -printf '%s\n' | awk '{ sum += $1 } END { printf "%d", sum }'
}

is_due() {
  local newest nightly
  newest=$(complete | tail -n 1)
  nightly=$(date -u -d '3 hours ago' +%Y%m%dT030000Z)
  [[ ${newest##*/} < $nightly ]] || (($(bytes "$folder/wal" "$newest") > disk / 12))
}

make_backup() {
  local target
  target="$folder/base/$(date -u +%Y%m%dT%H%M%SZ)"
  pg_basebackup --pgdata "$target.new" --format tar --gzip --wal-method none --checkpoint fast
  mv -- "$target.new" "$target"
  printf 'backup: %s\n' "$target"
}

clean_up() {
  local backups
  mapfile -t backups < <(complete)
  drop_log_before "${backups[0]}"
  while ((${#backups[@]} > 1)) && { ((${#backups[@]} > backups_max)) || (($(bytes "$folder") > disk / 3)); }; do
    rm -rf -- "${backups[0]}"
    backups=("${backups[@]:1}")
    drop_log_before "${backups[0]}"
  done
}

# drop_log_before BACKUP: deletes the segments that are older than the first one that the backup needs, which it names.
drop_log_before() {
  local first
  first=$(tar -xzOf "$1/base.tar.gz" backup_label | sed -nE 's/^START WAL LOCATION: .* \(file ([0-9A-F]{24})\)$/\1/p')
  /usr/lib/postgresql/15/bin/pg_archivecleanup -x .zst "$folder/wal" "$first"
}

exec 9>"$folder/base/.lock"
flock 9
# What is left of a backup that failed.
rm -rf -- "$folder"/base/*.new
disk=$(df --block-size=1 --output=size "$folder" | tail -n 1)
if [[ ${1:-} != --if-due ]] || is_due; then
  make_backup
fi
clean_up
