# shellcheck shell=bash
# Does the package registry hold the genuine packages, or must the projects under polyfills/ stand in? Asked once, and
# again when the wanted versions change.

# decide_packages: writes .billing/registry.props for MSBuild, and sets BILLING_PACKAGES to genuine or polyfills.
decide_packages() {
  local answer="$BILLING_STATE/registry.props" question
  if [[ -n ${UsePolyfills:-} ]]; then
    [[ $UsePolyfills == true || $UsePolyfills == false ]] || die "UsePolyfills is '$UsePolyfills': true or false?"
  else
    question=$(registry_question)
    if ! grep -qsF "$question" "$answer"; then
      locked "$BILLING_STATE/registry.lock" ask_registry "$answer" "$question"
    fi
  fi
  # shellcheck disable=SC2034 # Read by build.sh and billing.
  if [[ ${UsePolyfills:-} == false ]] || { [[ -z ${UsePolyfills:-} ]] && grep -qs '>false<' "$answer"; }; then
    BILLING_PACKAGES=genuine
  else
    BILLING_PACKAGES=polyfills
  fi
}

# The packages that a polyfill exists for, one a line.
replaceable_packages() {
  local project
  for project in "$BILLING_ROOT"/polyfills/*/*.csproj; do
    basename -- "$project" .csproj
  done
}

registry_question() {
  { cat -- "$BILLING_ROOT/Directory.Packages.props" && replaceable_packages; } | sha256sum | cut -d ' ' -f 1
}

ask_registry() {
  local answer="$1" question="$2" folder log status=0
  ! grep -qsF "$question" "$answer" || return 0
  temporary_folder folder "$BILLING_STATE"
  log="$folder/restore.log"
  write_question "$folder"
  say 'asking the package registry for the genuine packages ...'
  (cd "$folder" && timeout 180 dotnet restore question.csproj --disable-build-servers -v minimal) \
    >"$log" 2>&1 || status=$?
  if ((status == 0)); then
    say 'the package registry holds all genuine packages'
    write_answer "$folder" "$answer" "$question" false
  elif grep -qE 'NU110[123]' "$log" && ! grep -qE 'NU1301' "$log"; then
    say "the package registry lacks $(missing_packages "$log"); standing in from polyfills/: $(replaceable_packages |
      paste -s -d ',' | sed 's/,/, /g')"
    write_answer "$folder" "$answer" "$question" true
  else
    # Not written down: the next run asks again.
    say "could not ask the package registry ($(first_error "$log" "$status")); the polyfills stand in for now"
    rm -f -- "$answer"
  fi
  rm -rf -- "$folder"
}

# A project of its own, cut off from the repository's build settings except for the wanted versions.
write_question() {
  local package
  printf '<Project />\n' | tee "$1/Directory.Build.props" >"$1/Directory.Build.targets"
  printf '<Project><Import Project="%s" /></Project>\n' "$BILLING_ROOT/Directory.Packages.props" \
    >"$1/Directory.Packages.props"
  {
    printf '<Project Sdk="Microsoft.NET.Sdk">\n'
    printf '<PropertyGroup><TargetFramework>net10.0</TargetFramework></PropertyGroup>\n<ItemGroup>\n'
    while read -r package; do
      printf '<PackageReference Include="%s" />\n' "$package"
    done < <(replaceable_packages)
    printf '</ItemGroup>\n</Project>\n'
  } >"$1/question.csproj"
}

write_answer() {
  cat >"$1/registry.props" <<XML
<Project>
  <!-- The package registry's answer to question $3; delete this file to ask again. -->
  <PropertyGroup>
    <UsePolyfills Condition="'\$(UsePolyfills)' == ''">$4</UsePolyfills>
  </PropertyGroup>
</Project>
XML
  mv -- "$1/registry.props" "$2"
}

missing_packages() {
  sed -nE 's/.*NU110[123]: Unable to find (a stable )?package ([^ ]+).*/\2/p' "$1" | sed 's/\.$//' | sort -u |
    paste -s -d ',' | sed 's/,/, /g'
}

first_error() {
  local error
  error=$(sed -nE 's/.*error (NU[0-9]+|MSB[0-9]+): ([^[]*).*/\1: \2/p' "$1" | head -n 1)
  printf '%s' "${error:-dotnet restore ended with $2}" | sed 's/ *$//'
}
