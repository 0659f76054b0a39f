# shellcheck shell=bash
# Runs the test programs, as many at a time as the machine has cores, and adds up their counts.

# run_tests [--fast] [--install] [PROGRAM...]: builds and runs the named test programs, or all; with --fast those that need no broker.
# The last line says how many tests passed, failed and were skipped.
run_tests() {
  local passed=0 failed=0 skipped=0 programs=() projects=() name class_times= install=
  choose_test_programs "$@"
  # First, since it may ask.
  [[ " ${programs[*]} " != *' Billing.IntegrationTests '* ]] || { try_browser && try_python; }
  [[ " ${programs[*]} " != *' Billing.ChaosTests '* ]] || try_compiler
  [[ " ${programs[*]} " != *' Billing.DeploymentTests '* ]] || { try_shellcheck && try_network_tools; }
  [[ " ${programs[*]} " != *' Billing.DeploymentTests '* && " ${programs[*]} " != *' Billing.IntegrationTests '* ]] || try_prometheus
  for name in "${programs[@]}"; do
    projects+=("tests/$name/$name.csproj")
  done
  build_projects "${projects[@]}"
  run_test_programs
  print_slowest
  printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  ((failed == 0))
}

# The ten test classes that took longest, by the sum of their tests, without what they share (fixtures).
print_slowest() {
  say 'the slowest test classes, in seconds:'
  # awk reads all input: a reader that ends early makes the pipe fail.
  sort -rn <<<"$class_times" | awk 'NF && ++classes <= 10 { printf "  %7.1f  %s\n", $1, $2 }'
}

# read_class_times FILE: converts a test program's report to lines of seconds and class.
read_class_times() {
  { grep -ao '<test [^>]*' "$1" 2>/dev/null || true; } |
    sed -nE 's/.* time="([0-9.]+)".* type="([^"]*)".*/\1 \2/p' |
    awk '{ spent[$2] += $1 } END { for (class in spent) printf "%.3f %s\n", spent[class], class }'
}

# choose_test_programs [--fast] [--install] [PROGRAM...]: sets the caller's programs and install.
choose_test_programs() {
  local there=() project name
  for project in "$BILLING_ROOT"/tests/*/*Tests.csproj; do
    there+=("$(basename -- "$project" .csproj)")
  done
  for name in "$@"; do
    case $name in
      --fast) programs+=(Billing.UnitTests) ;;
      --install) install=yes ;;
      *)
        [[ " ${there[*]} " == *" $name "* ]] || die "there are no tests called '$name'; there are $(listed "${there[@]}")"
        programs+=("$name")
        ;;
    esac
  done
  ((${#programs[@]})) || programs=("${there[@]}")
}

# The test of clocks that step needs a C compiler and is skipped without one.
try_compiler() {
  [[ -x /usr/bin/cc && -e /usr/include/stdlib.h ]] || (as_root_install 'to test clocks that step' gcc libc6-dev) ||
    say 'continuing without a C compiler'
}

# The test of the backend in Python needs these packages, about 15 MB, and is skipped without them. The test of the client in Node uses
# node and npm if they are installed: they are too large to install only for this test.
try_python() {
  local needed=()
  [[ -e /usr/lib/python3/dist-packages/confluent_kafka ]] || needed+=(python3-confluent-kafka)
  [[ -e /usr/lib/python3/dist-packages/google/protobuf ]] || needed+=(python3-protobuf)
  have protoc || needed+=(protobuf-compiler)
  [[ -e /usr/include/google/protobuf/timestamp.proto ]] || needed+=(libprotobuf-dev)
  ((${#needed[@]} == 0)) || (as_root_install 'to test a backend in Python' "${needed[@]}") || say 'continuing without a backend in Python'
}

# The tests of shell scripts need it and are skipped without it.
try_shellcheck() {
  have shellcheck || (as_root_install 'to check shell scripts' shellcheck) || say 'continuing without shellcheck'
}

# The tests of the rehearsal's network run as root only, need these, and are skipped without them.
try_network_tools() {
  local needed=()
  ((EUID == 0)) || return 0
  have nft || needed+=(nftables)
  have ip || needed+=(iproute2)
  have sysctl || needed+=(procps)
  ((${#needed[@]} == 0)) || (as_root_install "to test the rehearsal's network" "${needed[@]}") || say "continuing without ${needed[*]}"
}

# The tests of alert rules and of `up --monitoring` need it and are skipped without it.
try_prometheus() {
  (
    trap clean_up EXIT
    ensure_prometheus
  ) || say 'continuing without prometheus'
  ! find_prometheus || export BILLING_PROMETHEUS_BIN
}

# The tests of the live page need a browser, and npm packages that drive it, and are skipped without them.
try_browser() {
  local folder="$BILLING_ROOT/tests/Billing.IntegrationTests/browser" missing=()
  have chromium || missing+=(chromium)
  have npm || missing+=(nodejs npm)
  if ((${#missing[@]})); then
    { wants_browser "${missing[@]}" && (as_root_install 'to test the live page in a browser' "${missing[@]}"); } || {
      say "continuing without ${missing[*]}"
      return 0
    }
  fi
  [[ $folder/node_modules/.package-lock.json -nt $folder/package-lock.json ]] || ! have npm ||
    with_progress 'installing the browser driver' "$BILLING_STATE/npm.log" npm ci --no-audit --no-fund --prefix "$folder" ||
    say 'continuing without the browser driver'
}

# wants_browser PACKAGE...: whether packages of this size may be installed: with --install, or if the user agrees.
wants_browser() {
  local answer=
  [[ -z $install ]] && can_install || return 0
  if [[ -t 0 && -t 2 ]]; then
    read -r -p "billing: install $* to test the live page in a browser? It takes about 500 MB [y/N] " answer || true
    [[ $answer == [yY]* ]]
  else
    say "missing: $* (to test the live page in a browser; ./billing test --install installs them, about 500 MB)"
    return 1
  fi
}

# Most test programs spend much of their time waiting, so as many run at once as there are cores. The integration tests run alone: they
# keep two cores busy by themselves, and beside the tests of failures both took a fifth longer than one after the other.
run_test_programs() {
  local folder name pid status atOnce waiting=()
  local -A running=() started=()
  temporary_folder folder "${TMPDIR:-/tmp}"
  atOnce=$(nproc)
  for name in Billing.IntegrationTests Billing.ChaosTests "${programs[@]}"; do
    [[ " ${programs[*]} " != *" $name "* || " ${waiting[*]} " == *" $name "* ]] || waiting+=("$name")
  done
  trap 'end_test_programs; exit 130' INT
  trap 'kill -INT "${!running[@]}"; end_test_programs; exit 143' TERM HUP
  while ((${#waiting[@]} + ${#running[@]})); do
    while ((${#waiting[@]} && ${#running[@]} < atOnce)) && [[ ${running[*]} != Billing.IntegrationTests ]]; do
      start_test_program "${waiting[0]}"
      waiting=("${waiting[@]:1}")
    done
    status=0
    with_clock "$(listed "${running[@]}")" /dev/null wait -n -p pid "${!running[@]}" || status=$?
    name=${running[$pid]}
    unset "running[$pid]"
    count_tests "$name" "$status" "$((SECONDS - started[$name]))"
  done
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  rm -rf -- "$folder"
}

# start_test_program NAME: adds to the caller's running and started.
start_test_program() {
  env --default-signal=INT -C "$folder" "$BILLING_OUTPUT/$1/release/$1" -noLogo -noColor -xml "$folder/$1.xml" \
    >"$folder/$1.log" 2>&1 &
  running[$!]=$1
  started[$1]=$SECONDS
}

# The running test programs have already been told to end: Ctrl-C reaches them too.
end_test_programs() {
  stop_ticker
  wait "${!running[@]}" || true
}

# count_tests NAME STATUS SECONDS: adds to the caller's passed, failed and skipped. A program that ends without counts counts as one
# failure.
count_tests() {
  local name="$1" status="$2" log="$folder/$1.log" summary total errors failures skips
  class_times+=$(read_class_times "$folder/$name.xml")$'\n'
  summary=$(grep -aE 'Total: [0-9]+,.* Failed: [0-9]+,' "$log" | tail -n 1 || true)
  total=$(count Total "$summary")
  total=$((total - $(count 'Not Run' "$summary")))
  errors=$(count Errors "$summary")
  failures=$(count Failed "$summary")
  skips=$(count Skipped "$summary")
  if [[ -z $summary ]] || { ((status)) && ((errors + failures == 0)); }; then
    errors=$((errors + 1))
    total=$((total + 1))
  fi
  if ((errors + failures)); then
    cat -- "$log"
  else
    grep -aE '\[SKIP\]' -A 1 "$log" || true
  fi
  # Which schedules were simulated depends on the day.
  grep -ao 'Simulated [0-9][^<]*' "$folder/$name.xml" 2>/dev/null || true
  printf '%s: %d passed, %d failed, %d skipped in %d s\n' \
    "$name" "$((total - errors - failures - skips))" "$((errors + failures))" "$skips" "$3"
  passed=$((passed + total - errors - failures - skips))
  failed=$((failed + errors + failures))
  skipped=$((skipped + skips))
}

# count NAME SUMMARY: 0 if the summary has no such count.
count() {
  local number
  number=$(sed -nE "s/.*$1: ([0-9]+).*/\1/p" <<<"$2")
  printf '%s' "${number:-0}"
}
