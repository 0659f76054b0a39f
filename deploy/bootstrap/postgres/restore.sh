#!/usr/bin/env bash
# Restores the database from its backups in a separate cluster, on port 5433 of this machine; the running one is not
# changed. As root, on the primary, or on a new machine if all of the database's are lost:
#   billing-restore '2026-01-31 12:00:00Z'    restores that moment, waits, and prints the time of the newest event
#   billing-restore latest                    restores everything that was archived
#   billing-restore --take-over               replaces the running cluster by the restored one: a new incarnation
#   billing-restore --drop                    removes the restored cluster
set -euo pipefail

main=/var/lib/postgresql/15/main
data=/var/lib/postgresql/15/restored
settings=/etc/postgresql/15/restored

die() {
  printf 'restore: %s\n' "$*" >&2
  exit 1
}

# query PORT SQL [DATABASE]
query() { runuser -u postgres -- psql -p "$1" -qAt -d "${3:-postgres}" -c "$2"; }

restore() {
  local moment second target=()
  if [[ $1 != latest ]]; then
    moment=$(date -u -d "$1" '+%Y-%m-%d %H:%M:%S.%6N+00') || die "'$1' is not a time that date(1) understands"
    target=(--type=time --target="$moment" --target-action=promote)
  fi
  [[ ! -e $settings ]] || die "there is a restored cluster already; use --take-over or --drop first"
  if query 5432 'select 1' >/dev/null 2>&1; then
    archive_all
  fi
  pg_createcluster 15 restored --port 5433 >/dev/null
  rm -rf -- "$data"
  install -d -o postgres -g postgres -m 700 "$data"
  runuser -u postgres -- pgbackrest --stanza=billing --pg1-path="$data" "${target[@]}" restore || {
    drop
    die "$1 cannot be restored: there is no backup from before it, or backups cannot be read, as with another" \
      'password than theirs (repo1-cipher-pass)'
  }
  cp -- "$data/pg_hba.conf" "$settings/pg_hba.conf"
  cat >"$settings/conf.d/restore.conf" <<END
listen_addresses = '127.0.0.1'
shared_buffers = 32MB
archive_mode = off
END
  pg_ctlcluster 15 restored start ||
    die "the restored cluster does not start: $(tail -n 5 /var/log/postgresql/postgresql-15-restored.log)"
  for ((second = 0; second < 3600; second++)); do
    pg_ctlcluster 15 restored status >/dev/null ||
      die "the recovery ended: $(tail -n 5 /var/log/postgresql/postgresql-15-restored.log)"
    if [[ $(query 5433 'select pg_is_in_recovery()' 2>/dev/null || true) == f ]]; then
      newest=$(query 5433 "select coalesce(max(timestamp)::text, 'no event') from billing.mt_events" billing)
      printf 'restore: the newest event has the time %s; port 5433\n' "$newest"
      return
    fi
    sleep 1
  done
  die 'the recovery did not end within an hour'
}

# Everything that the running database has written so far, with a transaction at its end:
# recovery never reaches a point in time after the last transaction.
archive_all() {
  query 5432 'select pg_current_xact_id()' >/dev/null
  runuser -u postgres -- pgbackrest --stanza=billing check || die 'the log is not archived; see the log of patroni'
}

drop() {
  pg_dropcluster --stop 15 restored
  # pg_dropcluster leaves files that it has not created.
  rm -rf -- "$settings" "$data"
}

# The standbys wait meanwhile: their right to be promoted is taken away. Afterwards they copy the restored cluster;
# they do not notice by themselves that their primary has another history.
take_over() {
  local kept='' second standby
  [[ -e $settings ]] || die 'there is no restored cluster'
  agreed pause --wait
  pg_ctlcluster 15 restored stop
  systemctl stop patroni
  runuser -u postgres -- python3 /opt/billing/bootstrap/postgres/start_patroni.py --alone /etc/patroni/config.yml
  if [[ -e $main/PG_VERSION ]]; then
    runuser -u postgres -- /usr/lib/postgresql/15/bin/pg_ctl -D "$main" -m fast -w stop >/dev/null
    kept="$main-until-$(date -u +%Y%m%dT%H%M%SZ)"
    mv -- "$main" "$kept"
  fi
  mv -T -- "$data" "$main"
  rm -rf -- "$settings"
  systemctl start patroni
  agreed resume --wait
  for ((second = 0; second < 300; second++)); do
    if [[ $(query 5432 'select pg_is_in_recovery()' 2>/dev/null || true) == f ]]; then
      # Before a backend records anything: what it records is told by new numbers from what was lost.
      # The commit cannot wait for a standby, which is copied only afterwards.
      held=$(query 5432 'select count(*) from billing.shards where is_held and moving_to is null' billing)
      if [[ $held == 64 ]]; then
        query 5432 'set synchronous_commit = local; select billing.begin_incarnation(array[]::integer[])' billing \
          >/dev/null
      else
        printf 'restore: other databases hold accounts, too: run billing restored with all of them %s\n' \
          'before the backends start'
      fi
      # A restore of what follows begins with a backup of this history.
      runuser -u postgres -- billing-backup
      if [[ -n $kept ]]; then
        for standby in $(agreed list -f tsv | awk -F '\t' 'NR > 1 && $4 != "Leader" { print $2 }'); do
          agreed reinit --force billing "$standby"
        done
      fi
      printf 'restore: the restored cluster serves port 5432%s\n' \
        "${kept:+; the data of the previous one is kept in $kept}"
      return
    fi
    sleep 1
  done
  die 'the restored cluster does not become the primary; see the log of patroni'
}

agreed() { patronictl -c /etc/patroni/config.yml "$@"; }

[[ ! -e $main/standby.signal ]] || die 'this machine is a standby: run this on its primary'
case ${1:-} in
  --take-over) take_over ;;
  --drop) drop ;;
  '' | -*) die "usage: billing-restore 'MOMENT' | latest | --take-over | --drop" ;;
  *) restore "$1" ;;
esac
