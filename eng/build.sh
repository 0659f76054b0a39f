# shellcheck shell=bash
# A build of what a command needs, left out when neither its input nor its output has changed since the last one.

# ensure_sdk: sets BILLING_SDK, the version that global.json chooses (it is looked for from the current folder upwards).
ensure_sdk() {
  have dotnet || die 'the .NET SDK 10 is missing: https://learn.microsoft.com/dotnet/core/install/linux'
  BILLING_SDK=$(env -C "$BILLING_ROOT" dotnet --version 2>&1) || die "no fitting .NET SDK: $BILLING_SDK"
}

# build_projects PROJECT...: builds the projects (paths from the root) and what they are made of. Sets BILLING_OUTPUT, the
# folder of the built projects.
build_projects() {
  local names
  names=$(joined "${@##*/}")
  BILLING_OUTPUT="$BILLING_ROOT/artifacts/$package_set/bin"
  locked "$BILLING_STATE/build.lock" build_if_changed "${names//.csproj/}" "$@"
}

# build_if_changed NAME PROJECT...
build_if_changed() {
  local stamp="$BILLING_STATE/built-$package_set-$1" filter="$BILLING_STATE/$1.slnf" log="$BILLING_STATE/build.log" input
  shift
  input=$(build_input "$@")
  if [[ -f $stamp && $(<"$stamp") == "$input $(build_output "$@")" ]]; then
    return
  fi
  rm -f -- "$stamp"
  : >"$log"
  solution_filter "$@" >"$filter"
  # No build server inherits the lock.
  with_progress 'building' "$log" compile "$filter" 9>&- || die "the build failed; everything it said is in $log"
  printf '%s' "$input $(build_output "$@")" >"$stamp"
}

# compile FILTER: one compiler for all projects, instead of one for each that has its analyzers to get going first. No build server
# stays behind.
compile() {
  local dotnet server status=0 sharing=(--disable-build-servers)
  dotnet=$(readlink -f -- "$(command -v dotnet)")
  server="${dotnet%/*}/sdk/$BILLING_SDK/Roslyn/bincore/VBCSCompiler.dll"
  if [[ -f $server ]]; then
    sharing=(-nodeReuse:false -p:UseRazorBuildServer=false -p:UseSharedCompilation=true -p:SharedCompilationId="billing-$$")
  fi
  env -C "$BILLING_ROOT" MSBUILDDISABLENODEREUSE=1 dotnet build "$1" -c Release --nologo -v quiet \
    "${sharing[@]}" -p:PackageAnswer="$package_answer" -p:Polyfills="$polyfills" || status=$?
  [[ ! -f $server ]] || dotnet "$server" -shutdown -pipename:"billing-$$" || true
  return "$status"
}

# solution_filter PROJECT...: paths from the repository's root.
solution_filter() {
  local project separator=
  printf '{ "solution": { "path": "../Billing.sln", "projects": ['
  for project in "$@"; do
    printf '%s\n  "%s"' "$separator" "${project//\//\\\\}"
    separator=,
  done
  printf '\n] } }\n'
}

# Name, size and time of every source file, and what else a build depends on. Lock files are left out: builds write them.
build_input() {
  local folders=(src load polyfills eng)
  [[ " $*" != *' tests/'* ]] || folders+=(tests examples)
  [[ " $*" != *' deploy/'* ]] || folders+=(deploy)
  {
    printf '%s\n' "$BILLING_SDK" "$@"
    printf '%s\n' "${BILLING_LIBRDKAFKA:-}" "$BILLING_CACHE" "${CI:-}"
    cat -- "$package_answer"
    find "$BILLING_ROOT" -maxdepth 1 -type f \( -name 'Directory.*' -o -name '*.sln' -o -name global.json -o -name .editorconfig \
      -o -iname nuget.config \) -printf '%p %s %T@\n'
    find "${folders[@]/#/$BILLING_ROOT/}" \
      -type d \( -name bin -o -name obj \) -prune -o -type f ! -name '*.lock.json' -printf '%p %s %T@\n'
    find "$BILLING_CACHE"/librdkafka-*/librdkafka.so ${BILLING_LIBRDKAFKA:+"$BILLING_LIBRDKAFKA"} \
      -printf '%p %s %T@\n' 2>/dev/null || true
  } | sort | sha256sum | cut -d ' ' -f 1
}

# The platform's programs are part of whatever is built.
build_output() {
  local project folders=(Billing.Cli Billing.Client Billing.Proxy Billing.Backends)
  for project in "$@"; do
    folders+=("$(basename -- "$project" .csproj)")
  done
  { find "${folders[@]/#/$BILLING_OUTPUT/}" -type f \( -name '*.dll' -o -name '*.so' -o -name '*.json' \) -printf '%p %s %T@\n' \
    2>/dev/null || true; } | sort | sha256sum | cut -d ' ' -f 1
}
