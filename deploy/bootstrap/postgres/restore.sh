#!/usr/bin/env bash
# Restores the database to a point in time in a separate cluster, on port 5433 of this machine; the running one is not changed.
# As root, on the primary:
#   billing-restore '2026-01-31 12:00:00Z'    restores, waits for completion, and prints the time of the newest event
#   billing-restore --take-over               replaces the running cluster by the restored one
#   billing-restore --drop                    removes the restored cluster
set -euo pipefail

folder=/var/backups/billing
main=/var/lib/postgresql/15/main
data=/var/lib/postgresql/15/restored
settings=/etc/postgresql/15/restored

die() {
  printf 'restore: %s\n' "$*" >&2
  exit 1
}

# query PORT SQL [DATABASE]
query() { runuser -u postgres -- psql -p "$1" -qAt -d "${3:-postgres}" -c "$2"; }

# archive_all: archives everything that the running database has written so far, with a transaction at its end: recovery never
# reaches a point in time after the last transaction.
archive_all() {
  local segment second
  query 5432 'select pg_current_xact_id()' >/dev/null
  segment=$(query 5432 'select pg_walfile_name(pg_current_wal_insert_lsn())')
  query 5432 'select pg_switch_wal()' >/dev/null
  for ((second = 0; second < 120; second++)); do
    [[ ! -f $folder/wal/$segment.zst ]] || return 0
    sleep 1
  done
  die "$segment was not archived within two minutes; see the log of patroni"
}

# newest_before MOMENT: prints the last base backup that was complete at that time.
newest_before() {
  local wanted backup found=
  wanted=$(date -u -d "$1" +%Y%m%dT%H%M%SZ) || die "'$1' is not a time that date(1) understands"
  for backup in "$folder"/base/*Z; do
    [[ -d $backup && ${backup##*/} < $wanted ]] && found=$backup
  done
  [[ -n $found ]] || die "there is no base backup from before $1 in $folder/base"
  printf '%s' "$found"
}

restore() {
  local backup second
  # Until the recovery has ended, no backup and no segment is deleted.
  exec 9>>"$folder/base/.lock"
  flock 9
  backup=$(newest_before "$1")
  [[ ! -e $settings ]] || die "there is a restored cluster already; use --take-over or --drop first"
  if query 5432 'select 1' >/dev/null 2>&1; then
    archive_all
  fi
  pg_createcluster 15 restored --port 5433 >/dev/null
  rm -rf -- "$data"
  install -d -o postgres -g postgres -m 700 "$data"
  runuser -u postgres -- tar -xzf "$backup/base.tar.gz" -C "$data"
  cp -- "$main/pg_hba.conf" "$settings/pg_hba.conf"
  cat >"$settings/conf.d/restore.conf" <<END
listen_addresses = '127.0.0.1'
shared_buffers = 32MB
archive_mode = off
restore_command = 'if test -f $folder/wal/%f.zst; then zstd -q -d -c $folder/wal/%f.zst >%p; else cp $folder/wal/%f %p; fi'
recovery_target_time = '$(date -u -d "$1" '+%Y-%m-%d %H:%M:%S.%6N+00')'
recovery_target_action = promote
END
  runuser -u postgres -- touch "$data/recovery.signal"
  pg_ctlcluster 15 restored start 9>&- || die "the restored cluster does not start: $(tail -n 5 /var/log/postgresql/postgresql-15-restored.log)"
  for ((second = 0; second < 3600; second++)); do
    pg_ctlcluster 15 restored status >/dev/null || die "the recovery ended: $(tail -n 5 /var/log/postgresql/postgresql-15-restored.log)"
    if [[ $(query 5433 'select pg_is_in_recovery()' 2>/dev/null || true) == f ]]; then
      printf 'restore: from %s; the newest event has the time %s; port 5433\n' "${backup##*/}" "$(query 5433 "select coalesce(max(timestamp)::text, 'no event') from billing.mt_events" billing)"
      return
    fi
    sleep 1
  done
  die 'the recovery did not end within an hour'
}

# The standbys wait meanwhile: their right to be promoted is taken away. Afterwards they copy the restored cluster; they do not
# notice by themselves that their primary has another history.
take_over() {
  local kept second standby
  [[ -e $settings ]] || die 'there is no restored cluster'
  kept="$main-until-$(date -u +%Y%m%dT%H%M%SZ)"
  agreed pause --wait
  pg_ctlcluster 15 restored stop
  systemctl stop patroni
  runuser -u postgres -- python3 /opt/billing/bootstrap/postgres/start_patroni.py --alone /etc/patroni/config.yml
  runuser -u postgres -- /usr/lib/postgresql/15/bin/pg_ctl -D "$main" -m fast -w stop >/dev/null
  mv -- "$main" "$kept"
  mv -- "$data" "$main"
  rm -rf -- "$settings"
  systemctl start patroni
  agreed resume --wait
  for ((second = 0; second < 300; second++)); do
    if [[ $(query 5432 'select pg_is_in_recovery()' 2>/dev/null || true) == f ]]; then
      # A restore of what follows begins with a backup of this history.
      runuser -u postgres -- billing-backup
      for standby in $(agreed list -f tsv | awk -F '\t' 'NR > 1 && $4 != "Leader" { print $2 }'); do
        agreed reinit --force billing "$standby"
      done
      printf 'restore: the restored cluster serves port 5432; the data of the previous one is kept in %s\n' "$kept"
      return
    fi
    sleep 1
  done
  die 'the restored cluster does not become the primary; see the log of patroni'
}

agreed() { patronictl -c /etc/patroni/config.yml "$@"; }

[[ ! -e $main/standby.signal ]] || die 'this machine is a standby: its primary has the backups'
case ${1:-} in
  --take-over) take_over ;;
  --drop)
    pg_dropcluster --stop 15 restored
    # pg_dropcluster leaves files that it has not created.
    rm -rf -- "$settings"
    ;;
  '' | -*) die "usage: billing-restore 'MOMENT' | --take-over | --drop" ;;
  *) restore "$1" ;;
esac
