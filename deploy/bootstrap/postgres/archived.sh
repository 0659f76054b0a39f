#!/usr/bin/env bash
# Whether the archive has the records of a segment that pgBackRest has refused: billing-archived pg_wal/SEGMENT
# STATUS, in the server's data folder, where STATUS is pgBackRest's exit code. The code of this is 0 if it has them,
# and STATUS otherwise.
#
# pgBackRest compares whole segments, and refuses for ever one that differs from the archived one, and with it all
# later ones. A former primary archives the segment that it closes when it stops. The standby that takes over
# archives it again, and may never have received the zeros behind its last record: it then has there what an older
# segment has left in the file.
set -euo pipefail

# ArchiveDuplicateError
(($2 == 45)) || exit "$2"
segment=$(basename -- "$1")
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
mkdir "$folder/own" "$folder/archived"
cp -- "$1" "$folder/own/$segment"
pgbackrest --stanza=billing archive-get "$segment" "$folder/archived/$segment" || exit "$2"

# It ends with an error, as there is no next segment.
records() { /usr/lib/postgresql/15/bin/pg_waldump "$folder/$1/$segment" 2>/dev/null || true; }

records own >"$folder/records"
if [[ $(tail -n 1 -- "$folder/records") == *'desc: SWITCH'* ]] && cmp -s -- "$folder/records" <(records archived); then
  printf 'billing-archived: %s was archived with the same records\n' "$segment" >&2
  exit 0
fi
exit "$2"
