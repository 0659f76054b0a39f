# shellcheck shell=bash
# A build of what a command needs, left out when neither its input nor its output has changed since the last one.

# What most commands run.
billing_program=src/Cli/Billing.Cli.csproj

# The pipe that the compiler of a build under way listens at.
billing_compiler=

# need_sdk: sets BILLING_SDK, the version that global.json chooses (it is looked for from the current folder upwards), or asks for one.
need_sdk() {
  if have dotnet; then
    BILLING_SDK=$(env -C "$BILLING_ROOT" dotnet --version 2>&1) || die "no fitting .NET SDK: $BILLING_SDK"
  else
    BILLING_SDK=
    if [[ $(system_family) != debian ]] || apt-cache show dotnet-sdk-10.0 >/dev/null 2>&1; then
      need 'the .NET SDK 10' dotnet-sdk-10.0 'to build and run'
    else
      need 'the .NET SDK 10 (https://learn.microsoft.com/dotnet/core/install/linux)' '' 'to build and run'
    fi
  fi
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
  local stamp="$BILLING_STATE/built-$package_set-$1" filter="$BILLING_STATE/$1.slnf" log="$BILLING_STATE/build.log" input of_program='' settings=()
  shift
  input=$(build_input "$@")
  [[ $* != *Billing.IntegrationTests.csproj* ]] || of_program=$(build_input "$billing_program")
  if [[ -f $stamp && $(<"$stamp") == "$input $(build_output "$@")" ]]; then
    return
  fi
  rm -f -- "$stamp"
  : >"$log"
  solution_filter "$@" >"$filter"
  # Whoever runs something need not wait for the analyzers, which have their say in tests.
  [[ $* == *tests/* ]] || settings+=(-p:RunAnalyzers=false)
  billing_compiler="billing-$$"
  # No build server stays behind, and none inherits the lock: the compiler, which starts once for all projects, is this build's own.
  with_progress 'building' "$log" env -C "$BILLING_ROOT" MSBUILDUSESERVER=0 dotnet build "$filter" -c Release --nologo -v quiet \
    -nodeReuse:false -p:UseRazorBuildServer=false -p:UseSharedCompilation=true -p:SharedCompilationId="$billing_compiler" \
    -p:PackageAnswer="$package_answer" -p:Polyfills="$polyfills" "${settings[@]}" 9>&- ||
    die "the build failed; everything it said is in $log"
  end_compiler
  printf '%s' "$input $(build_output "$@")" >"$stamp"
  # These tests come with the program that most commands run: it need not be built once more for those.
  [[ -z $of_program ]] || printf '%s' "$of_program $(build_output "$billing_program")" >"$BILLING_STATE/built-$package_set-Billing.Cli"
}

# Also part of the clean-up. One that cannot be told ends by itself when it has had nothing to do for ten minutes.
end_compiler() {
  [[ -n $billing_compiler ]] || return 0
  local sdks
  sdks=$(dotnet --list-sdks | sed -n "s/^$BILLING_SDK \[\(.*\)\]\$/\1/p")
  dotnet "$sdks/$BILLING_SDK/Roslyn/bincore/VBCSCompiler.dll" -shutdown -pipename:"$billing_compiler" >/dev/null 2>&1 || true
  billing_compiler=
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
  local project folders=(Billing.Cli Billing.Client Billing.Proxy Billing.Backends Billing.Embedded)
  for project in "$@"; do
    folders+=("$(basename -- "$project" .csproj)")
  done
  { find "${folders[@]/#/$BILLING_OUTPUT/}" -type f \( -name '*.dll' -o -name '*.so' -o -name '*.json' \) -printf '%p %s %T@\n' \
    2>/dev/null || true; } | sort | sha256sum | cut -d ' ' -f 1
}
