# shellcheck shell=bash
# The components of a released program: a CycloneDX bill of materials from its deps.json and the packages it was restored from.

# write_sbom PUBLISHED PROGRAM VERSION RUNTIME PACKAGES EPOCH: writes it to standard output.
write_sbom() {
  local published="$1" program="$2" version="$3" runtime="$4" packages="$5" epoch="$6" facts
  facts=$(package_facts "$published" "$packages" | jq -R -n \
    '[inputs | split("\t") | { key: .[0], value: ({ hash: .[1], license: .[2] } | map_values(select(. != ""))) }] | from_entries')
  jq -f "$BILLING_ROOT/eng/sbom.jq" --argjson facts "$facts" --arg program "$program" --arg version "$version" \
    --arg runtime "$runtime" --arg time "$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)" "$published/$program.deps.json"
}

# package_facts PUBLISHED PACKAGES: one line per library: name/version, SHA-512, licence; the latter two may be empty.
package_facts() {
  local published="$1" packages="$2" key kind name folder
  while IFS=$'\t' read -r key kind; do
    name=${key#runtimepack.}
    if [[ $kind == project ]]; then
      printf '%s\t%s\t%s\n' "$key" "$(file_hash "$published" "${name%/*}")" Apache-2.0
    else
      folder="$packages/${name,,}"
      [[ -d $folder ]] || die "the package folder $folder, which $published was published from, is missing"
      printf '%s\t%s\t%s\n' "$key" "$(package_hash "$folder")" "$(package_license "$folder")"
    fi
  done < <(jq -r '.libraries | to_entries[] | [.key, .value.type] | @tsv' "$published"/*.deps.json)
}

# The package's hash in the registry's index.
package_hash() { base64 -d <"$(echo "$1"/*.nupkg.sha512)" | od -An -tx1 -v | tr -d ' \n'; }

# Only if the package states it as an expression: a file or a URL is not the name of a licence.
package_license() { sed -nE 's/.*<license type="expression">([^<]*)<.*/\1/p' "$1"/*.nuspec | head -n 1; }

# For a project: the hash of its assembly.
file_hash() {
  local file="$1/$2.dll"
  [[ ! -f $file ]] || sha512sum <"$file" | cut -d ' ' -f 1
}
