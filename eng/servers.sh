# shellcheck shell=bash
# What a command runs against: which servers it starts, which run already, and what all of that takes.

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

# choose_servers COMMAND ARGUMENT...: sets postgres (auto for programs to start one from, or something else) and kafka (auto,
# embedded, archive for its files alone, or addresses of brokers that run already).
choose_servers() {
  postgres= kafka=embedded
  case $1 in
    run | up | chaos | load | trace | sweep | compare | profile)
      # Proxies that run already need neither, nor do echoes.
      if [[ -z $(option --targets "$@") && "$1 ${2:-}" != 'compare rpc' ]]; then
        postgres=$(option --postgres "$@")
        postgres=${postgres:-auto}
        kafka=$(option --kafka "$@")
        kafka=${kafka:-auto}
        [[ $(option --transport "$@") != direct ]] || kafka=embedded
      fi
      ;;
    bench)
      wants_help "$@" || postgres=auto
      ;;
    test)
      postgres=auto
      [[ ${2:-} == --fast ]] || kafka=auto
      ;;
    package) kafka=archive ;;
    rehearse) wants_help "$@" || kafka=archive ;;
    dead-letters | topics) kafka=$(named_brokers "$@") ;;
  esac
}

# named_brokers ARGUMENT...: those of the option, as good as the settings', as good as the background stack's, or embedded where
# nobody names any.
named_brokers() {
  local named
  named=$(option --kafka "$@")
  if [[ -z $named && (-n ${Billing__Kafka__BootstrapServers:-} || -f appsettings.json || -f $BILLING_STATE/stack.json) ]]; then
    named=settings:
  fi
  printf '%s' "${named:-embedded}"
}

# need_servers COMMAND: asks for what choose_servers has chosen.
need_servers() {
  [[ $postgres != auto ]] || need_postgres
  case $kafka in
    auto)
      need_kafka
      ! has_or_gets_kafka || need_java
      ;;
    archive) need_kafka ;;
  esac
  if [[ -z $BILLING_SDK ]]; then
    ! needs_client || need_librdkafka 'to build librdkafka, should the package registry lack it'
  elif needs_client && stands_in librdkafka.redist; then
    need_librdkafka 'to build librdkafka'
  fi
}

# Whether the command talks to brokers.
needs_client() { [[ $kafka == *:* ]] || has_or_gets_kafka; }
