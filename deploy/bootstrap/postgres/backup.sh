#!/usr/bin/env bash
# Backs the database up to where /etc/pgbackrest.conf says. On the primary, as the user postgres:
#   billing-backup            what has changed since the last backup; everything on Sundays
#   billing-backup --first    only if there is no backup yet
# A standby does nothing. One that runs already is waited for, as pgBackRest would fail.
set -euo pipefail

[[ ! -e /var/lib/postgresql/15/main/standby.signal ]] || exit 0
exec 9>/run/lock/billing-backup
flock 9
if [[ ${1:-} == --first ]]; then
  known=$(pgbackrest --stanza=billing --output=json info)
  [[ $known == *'"backup":[]'* ]] || exit 0
fi
type=incr
[[ $(date -u +%u) != 7 ]] || type=full
pgbackrest --stanza=billing --type=$type backup
