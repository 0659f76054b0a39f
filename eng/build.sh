# shellcheck shell=bash
# Builds what a command needs, unless neither the input nor the output has changed since the last build.

# The program that runs most commands.
billing_program=load/Cli/Billing.Cli.csproj

# The pipe on which the compiler of the current build listens.
billing_compiler=

# need_sdk: sets BILLING_SDK, the version that global.json selects (dotnet searches for it from the current folder upwards), or records
# that an SDK is needed.
need_sdk() {
  if have dotnet; then
    BILLING_SDK=$(env -C "$BILLING_ROOT" dotnet --version 2>&1) || die "no suitable .NET SDK: $BILLING_SDK"
  else
    BILLING_SDK=
    if [[ $(system_family) != debian ]] || apt-cache show dotnet-sdk-10.0 >/dev/null 2>&1; then
      need 'the .NET SDK 10' dotnet-sdk-10.0 'to build and run'
    else
      need 'the .NET SDK 10 (https://learn.microsoft.com/dotnet/core/install/linux)' '' 'to build and run'
    fi
  fi
}

# build_projects PROJECT...: builds the projects (paths from the root) and their dependencies. Sets BILLING_OUTPUT, the
# folder of the built projects.
build_projects() {
  local names
  names=$(IFS=+ && printf '%s' "${*##*/}")
  BILLING_OUTPUT="$BILLING_ROOT/artifacts/bin"
  locked "$BILLING_STATE/build.lock" build_if_changed "${names//.csproj/}" "$@"
}

# build_if_changed NAME PROJECT...
build_if_changed() {
  local stamp="$BILLING_STATE/built-$1" filter="$BILLING_STATE/$1.slnf" log="$BILLING_STATE/build.log" input of_program='' settings=()
  shift
  input=$(build_input "$@")
  [[ $* != *Billing.IntegrationTests.csproj* ]] || of_program=$(build_input "$billing_program")
  if [[ -f $stamp && $(<"$stamp") == "$input $(build_output "$@")" ]]; then
    return
  fi
  rm -f -- "$stamp"
  : >"$log"
  solution_filter "$@" >"$filter"
  # Only builds for tests run the analyzers; other commands need not wait for them.
  [[ $* == *tests/* ]] || settings+=(-p:RunAnalyzers=false)
  billing_compiler="billing-$$"
  # No build server stays behind, and none inherits the lock: all projects share one compiler process, which belongs to this build.
  with_progress 'building' "$log" env -C "$BILLING_ROOT" MSBUILDUSESERVER=0 dotnet build "$filter" -c Release --nologo -v quiet \
    -nodeReuse:false -p:UseRazorBuildServer=false -p:UseSharedCompilation=true -p:SharedCompilationId="$billing_compiler" \
    -p:PackageAnswer="$package_answer" "${settings[@]}" 9>&- || {
    # The build may have lacked a package: the registry is asked again.
    rm -f -- "$BILLING_STATE"/packages/*.unanswered
    die "the build failed; its output is in $log"
  }
  end_compiler
  printf '%s' "$input $(build_output "$@")" >"$stamp"
  # A build of these tests includes the program that most commands run, which then need not be built again.
  [[ -z $of_program ]] || printf '%s' "$of_program $(build_output "$billing_program")" >"$BILLING_STATE/built-Billing.Cli"
}

# Also part of the clean-up. A compiler that does not receive the shutdown ends by itself after ten idle minutes.
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
  printf '{ "solution": { "path": "../Billing.slnx", "projects": ['
  for project in "$@"; do
    printf '%s\n  "%s"' "$separator" "${project//\//\\\\}"
    separator=,
  done
  printf '\n] } }\n'
}

# Name, size and time of every source file, and everything else a build depends on. Lock files are left out, since builds write them.
build_input() {
  local folders=(src load polyfills eng)
  [[ " $*" != *' tests/'* ]] || folders+=(tests examples deploy)
  {
    printf '%s\n' "$BILLING_SDK" "$@"
    printf '%s\n' "$BILLING_CACHE" "${CI:-}"
    cat -- "$package_answer"
    find "$BILLING_ROOT" -maxdepth 1 -type f \( -name 'Directory.*' -o -name '*.slnx' -o -name global.json -o -name .editorconfig \
      -o -iname nuget.config \) -printf '%p %s %T@\n'
    find "${folders[@]/#/$BILLING_ROOT/}" \
      -type d \( -name bin -o -name obj \) -prune -o -type f ! -name '*.lock.json' -printf '%p %s %T@\n'
  } | sort | sha256sum | cut -d ' ' -f 1
}

# The platform's programs are part of every build.
build_output() {
  local project folders=(Billing.Cli Billing.LoadClient Billing.Proxy Billing.Backends Billing.Embedded)
  for project in "$@"; do
    folders+=("$(basename -- "$project" .csproj)")
  done
  { find "${folders[@]/#/$BILLING_OUTPUT/}" -type f \( -name '*.dll' -o -name '*.so' -o -name '*.json' \) -printf '%p %s %T@\n' \
    2>/dev/null || true; } | sort | sha256sum | cut -d ' ' -f 1
}
