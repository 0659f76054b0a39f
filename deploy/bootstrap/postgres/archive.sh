#!/usr/bin/env bash
# PostgreSQL's archive_command: archives a file of its write-ahead log, compressed, since a segment that is closed before it is full
# ends in zeros:
#   billing-archive FILE TARGET      writes TARGET.zst
# PostgreSQL keeps the file and calls again until this succeeds, so success means that the archived file is on the disk.
set -euo pipefail

file=$1
target=$2.zst
if [[ -e $target ]]; then
  # After a crash, PostgreSQL may not know that it has archived a file.
  zstd -q -d -c "$target" | cmp -s - "$file" || {
    printf 'archive: %s exists and has other content than %s\n' "$target" "$file" >&2
    exit 1
  }
else
  new="${target%/*}/.${target##*/}"
  zstd -q -1 -f "$file" -o "$new"
  sync "$new"
  mv "$new" "$target"
fi
sync "$target" "${target%/*}"
