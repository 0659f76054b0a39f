# shellcheck shell=bash
# The servers that a command uses: those it starts, those that are already running, and the programs needed for them.

# option NAME ARGUMENT...: the value of --name VALUE or --name=VALUE, the last one given.
option() {
  local name="$1" value=
  shift
  while (($#)); do
    case $1 in
      "$name") value=${2:-} ;;
      "$name"=*) value=${1#*=} ;;
    esac
    shift
  done
  printf '%s' "$value"
}

wants_help() {
  local argument
  for argument in "$@"; do
    case $argument in -h | -\? | --help) return 0 ;; esac
  done
  return 1
}

# choose_servers COMMAND ARGUMENT...: sets postgres (auto if the command starts one, or something else) and kafka (auto,
# embedded, archive for only its files, or addresses of running brokers).
choose_servers() {
  postgres= kafka=embedded
  case $1 in
    run | up | chaos | load | trace | sweep | compare | profile)
      # Running proxies need neither, and echoes do not either.
      if [[ -z $(option --targets "$@") && "$1 ${2:-}" != 'compare rpc' ]]; then
        postgres=$(option --postgres "$@")
        postgres=${postgres:-auto}
        kafka=$(option --kafka "$@")
        kafka=${kafka:-auto}
        [[ $(option --transport "$@") != direct ]] || kafka=embedded
      fi
      ;;
    bench) postgres=auto ;;
    test)
      postgres=auto
      [[ " $* " == *' --fast '* ]] || kafka=auto
      ;;
    package | rehearse) kafka=archive ;;
    dead-letters | topics) kafka=$(named_brokers "$@") ;;
  esac
}

# named_brokers ARGUMENT...: the brokers of the option, otherwise `settings:` for those of the settings or of the background stack, or
# embedded if there are none.
named_brokers() {
  local named
  named=$(option --kafka "$@")
  if [[ -z $named && (-n ${Billing__Kafka__BootstrapServers:-} || -f appsettings.json || -f $BILLING_STATE/stack.json) ]]; then
    named=settings:
  fi
  printf '%s' "${named:-embedded}"
}

# need_servers COMMAND: records the programs needed for the servers that choose_servers has chosen.
need_servers() {
  [[ $postgres != auto ]] || need_postgres
  case $kafka in
    auto)
      need_kafka
      ! has_or_gets_kafka || need_java
      ;;
    archive) need_kafka ;;
  esac
}
