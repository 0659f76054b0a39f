# shellcheck shell=bash
# Builds what a command needs, unless neither the input nor the output has changed since the last build.

# The pipe on which the compiler of the current build listens.
billing_compiler=

program_file() {
  local name
  name=$(basename -- "$1" .csproj)
  printf '%s' "$BILLING_ROOT/artifacts/bin/$name/release/$name.dll"
}

# choose_test_projects ARGUMENT...: sets the caller's beside to the named test programs, or all;
# with --fast and --fuzz those that need no broker. The program checks the arguments.
choose_test_projects() {
  local name
  for name in "$@"; do
    [[ $name != --fast && $name != --fuzz* ]] || name=Billing.UnitTests
    [[ ! -f $BILLING_ROOT/tests/$name/$name.csproj ]] || beside+=("tests/$name/$name.csproj")
  done
  ((${#beside[@]})) || mapfile -t beside < <(cd -- "$BILLING_ROOT" && compgen -G 'tests/*/*Tests.csproj')
}

# build_projects PROGRAM [PROJECT...]: builds the projects (paths from the root) and their dependencies.
build_projects() { locked "$BILLING_STATE/build.lock" build_if_changed "$@"; }

stamp_of() { IFS=+ && printf '%s' "$BILLING_STATE/built-${*##*/}"; }

is_built() {
  local stamp
  stamp=$(stamp_of "$@")
  [[ -f $stamp && $(<"$stamp") == "$(build_input "$@") $(build_output "$@")" ]]
}

# build_if_changed PROGRAM [PROJECT...]
build_if_changed() {
  local filter="$BILLING_STATE/billing.slnf" log="$BILLING_STATE/build.log" input of_program settings=()
  ! is_built "$@" || return 0
  input=$(build_input "$@")
  of_program=$(build_input "$1")
  rm -f -- "$(stamp_of "$@")"
  : >"$log"
  solution_filter "$@" >"$filter"
  # Only builds for tests run the analyzers; other commands need not wait for them.
  [[ $* == *tests/* ]] || settings+=(-p:RunAnalyzers=false)
  billing_compiler="billing-$$"
  # No build server stays behind, and none inherits the lock: all projects share one compiler process,
  # which belongs to this build.
  with_progress 'building' "$log" env -C "$BILLING_ROOT" MSBUILDUSESERVER=0 \
    dotnet build "$filter" -c Release --nologo -v quiet \
    -nodeReuse:false -p:UseRazorBuildServer=false -p:UseSharedCompilation=true \
    -p:SharedCompilationId="$billing_compiler" \
    -p:PackageAnswer="$package_answer" "${settings[@]}" 9>&- || {
    # The build may have lacked a package: the registry is asked again.
    rm -f -- "$BILLING_STATE"/packages/*.unanswered
    die "the build failed; its output is in $log"
  }
  end_compiler
  printf '%s' "$input $(build_output "$@")" >"$(stamp_of "$@")"
  # The program need not be built again for a command that needs nothing else.
  printf '%s' "$of_program $(build_output "$1")" >"$(stamp_of "$1")"
}

# Also part of the clean-up. A compiler that does not receive the shutdown ends by itself after ten idle minutes.
end_compiler() {
  [[ -n $billing_compiler ]] || return 0
  local sdks
  sdks=$(dotnet --list-sdks | sed -n "s/^$BILLING_SDK \[\(.*\)\]\$/\1/p")
  dotnet "$sdks/$BILLING_SDK/Roslyn/bincore/VBCSCompiler.dll" -shutdown -pipename:"$billing_compiler" \
    >/dev/null 2>&1 || true
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

# Name, size and time of every source file, and everything else a build depends on. Lock files are left out,
# since builds write them.
build_input() {
  local folders=(src load polyfills eng)
  [[ " $*" != *' tests/'* ]] || folders+=(tests examples deploy)
  {
    printf '%s\n' "$BILLING_SDK" "$@"
    printf '%s\n' "$BILLING_CACHE" "${CI:-}"
    cat -- "$package_answer"
    find "$BILLING_ROOT" -maxdepth 1 -type f \
      \( -name 'Directory.*' -o -name '*.sln' -o -name global.json -o -name .editorconfig \
      -o -iname nuget.config \) -printf '%p %s %T@\n'
    find "${folders[@]/#/$BILLING_ROOT/}" \
      -type d \( -name bin -o -name obj \) -prune -o -type f ! -name '*.lock.json' -printf '%p %s %T@\n'
  } | sort | sha256sum | cut -d ' ' -f 1
}

# The platform's programs are part of every build.
build_output() {
  local project folders=(Billing.Cli Billing.Driver Billing.Proxy Billing.Backends Billing.Embedded)
  for project in "$@"; do
    folders+=("$(basename -- "$project" .csproj)")
  done
  { find "${folders[@]/#/$BILLING_ROOT/artifacts/bin/}" -type f \
    \( -name '*.dll' -o -name '*.so' -o -name '*.json' \) -printf '%p %s %T@\n' \
    2>/dev/null || true; } | sort | sha256sum | cut -d ' ' -f 1
}
