# A CycloneDX bill of materials from a program's deps.json. $facts: name/version -> { hash, license } of what is in it.
def reference: if startswith("runtimepack.") then .[12:] else . end | sub("/"; "@") | "pkg:nuget/" + .;
def with_facts($key): ($facts[$key] // {}) as $fact
  | if $fact.hash then .hashes = [{ alg: "SHA-512", content: $fact.hash }] else . end
  | if $fact.license then .licenses = [{ expression: $fact.license }] else . end;
def component($key; $kind):
  ($key | ltrimstr("runtimepack.") | split("/")) as [$name, $number]
  | { type: "library", "bom-ref": ($key | reference), name: $name, version: $number }
  | if $kind == "project" then
      .description = "part of Billing"
    else .purl = ($key | reference) end
  | with_facts($key);
(.runtimeTarget.name) as $target
| .targets[$target] as $graph
| (.libraries | to_entries | map(select(.key != "\($program)/\($version)"))) as $libraries
| {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: {
      timestamp: $time,
      component: {
        type: "application", "bom-ref": ("\($program)/\($version)" | reference), name: $program, version: $version,
        description: "for \($runtime)", licenses: [{ expression: "Apache-2.0" }]
      }
    },
    components: ($libraries | map(component(.key; .value.type))),
    dependencies: (
      $graph | to_entries
      | map({ ref: (.key | reference), dependsOn: ((.value.dependencies // {}) | to_entries | map("\(.key)/\(.value)" | reference)) }))
  }
