#!/usr/bin/env bash
# Restores the database as of a moment into a cluster of its own, on port 5433 of this machine; the running one is left alone.
# As root:
#   billing-restore '2026-01-31 12:00:00Z'    restores, waits until it is done, and says what it is as of
#   billing-restore --take-over               puts what was restored in the place of the running one
#   billing-restore --drop                    removes it
set -euo pipefail

folder=/var/backups/billing
data=/var/lib/postgresql/15/restored
settings=/etc/postgresql/15/restored

die() {
  printf 'restore: %s\n' "$*" >&2
  exit 1
}

# query SQL [DATABASE]
query() { runuser -u postgres -- psql -p 5433 -qAt -d "${2:-postgres}" -c "$1"; }

# newest_before MOMENT: the last base backup that was complete by then.
newest_before() {
  local wanted backup found=
  wanted=$(date -u -d "$1" +%Y%m%dT%H%M%SZ) || die "'$1' is not a moment that date(1) understands"
  for backup in "$folder"/base/*Z; do
    [[ -d $backup && ${backup##*/} < $wanted ]] && found=$backup
  done
  [[ -n $found ]] || die "there is no base backup from before $1 in $folder/base"
  printf '%s' "$found"
}

restore() {
  local backup second
  backup=$(newest_before "$1")
  [[ ! -e $settings ]] || die "there is a restored cluster already; --take-over or --drop it first"
  pg_createcluster 15 restored --port 5433 >/dev/null
  rm -rf -- "$data"
  install -d -o postgres -g postgres -m 700 "$data"
  runuser -u postgres -- tar -xzf "$backup/base.tar.gz" -C "$data"
  cp -- /etc/postgresql/15/main/pg_hba.conf "$settings/pg_hba.conf"
  cat >"$settings/conf.d/restore.conf" <<END
listen_addresses = '127.0.0.1'
shared_buffers = 32MB
archive_mode = off
restore_command = 'cp $folder/wal/%f %p'
recovery_target_time = '$(date -u -d "$1" '+%Y-%m-%d %H:%M:%S.%6N+00')'
recovery_target_action = promote
END
  runuser -u postgres -- touch "$data/recovery.signal"
  pg_ctlcluster 15 restored start || die "the restored cluster does not start: $(tail -n 5 /var/log/postgresql/postgresql-15-restored.log)"
  for ((second = 0; second < 3600; second++)); do
    if [[ $(query 'select pg_is_in_recovery()') == f ]]; then
      printf 'restore: from %s; the newest event is of %s; port 5433\n' "${backup##*/}" "$(query "select coalesce(max(timestamp)::text, 'no event') from billing.mt_events" billing)"
      return
    fi
    sleep 1
  done
  die 'the recovery did not end within an hour'
}

take_over() {
  [[ -e $settings ]] || die 'nothing is restored'
  pg_ctlcluster 15 restored stop
  systemctl disable --quiet --now postgresql@15-main
  pg_conftool 15 restored set port 5432
  rm -- "$settings/conf.d/restore.conf"
  cp -- /etc/postgresql/15/main/conf.d/billing.conf "$settings/conf.d/billing.conf"
  systemctl enable --quiet --now postgresql@15-restored
  printf 'restore: the restored cluster serves port 5432; the former one is stopped and kept in /var/lib/postgresql/15/main\n'
}

case ${1:-} in
  --take-over) take_over ;;
  --drop) pg_dropcluster --stop 15 restored ;;
  '' | -*) die "usage: billing-restore 'MOMENT' | --take-over | --drop" ;;
  *) restore "$1" ;;
esac
