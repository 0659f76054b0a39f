# shellcheck shell=bash
# Finds or downloads a Kafka installation to start brokers from.

kafka_version=4.1.0
kafka_archive="kafka_2.13-$kafka_version.tgz"
kafka_sites=("https://downloads.apache.org/kafka/$kafka_version" "https://archive.apache.org/dist/kafka/$kafka_version")
kafka_source=

# need_kafka: sets and exports BILLING_KAFKA_HOME, the folder that holds libs/, if there is one. Otherwise sets kafka_source:
# the archive or the site to get it from, a * if no site could be checked yet, or nothing. Records the programs needed for that.
need_kafka() {
  local cached="$BILLING_CACHE/kafka-$kafka_version"
  export BILLING_KAFKA_HOME=
  if [[ -n ${KAFKA_HOME:-} ]]; then
    has_kafka "$KAFKA_HOME" || die "KAFKA_HOME is $KAFKA_HOME, which has no libs/kafka-server-*.jar"
    BILLING_KAFKA_HOME=$KAFKA_HOME
  elif has_kafka "$cached"; then
    BILLING_KAFKA_HOME=$cached
  elif [[ -n ${BILLING_KAFKA_ARCHIVE:-} ]]; then
    [[ -f $BILLING_KAFKA_ARCHIVE ]] || die "BILLING_KAFKA_ARCHIVE names $BILLING_KAFKA_ARCHIVE, which does not exist"
    case $BILLING_KAFKA_ARCHIVE in *.xz | *.txz) need_program xz xz-utils 'to unpack Kafka' ;; esac
    kafka_source=$BILLING_KAFKA_ARCHIVE
  elif have curl; then
    choose_kafka_site
  else
    need curl curl 'to download Kafka'
    kafka_source='*'
  fi
}

# has_or_gets_kafka: whether there will be an installation.
has_or_gets_kafka() { [[ -n ${BILLING_KAFKA_HOME:-}$kafka_source ]]; }

has_kafka() { compgen -G "$1/libs/kafka-server-*.jar" >/dev/null; }

need_java() {
  local java=java version
  [[ -z ${JAVA_HOME:-} ]] || java="$JAVA_HOME/bin/java"
  version=$("$java" -XX:-UsePerfData -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1) || true
  if ((${version:-0} < 17)); then
    [[ -z ${JAVA_HOME:-} ]] || die "JAVA_HOME is $JAVA_HOME: Kafka needs Java 17 or newer"
    need 'Java 17 or newer' default-jre-headless 'to run Kafka'
  fi
}

# choose_kafka_site: sets kafka_source to the first site that has it.
choose_kafka_site() {
  for kafka_source in "${kafka_sites[@]}" ''; do
    [[ -n $kafka_source ]] && ! published_checksum "$kafka_source" >/dev/null || return 0
  done
}

# published_checksum SITE
published_checksum() { curl -fsSL --connect-timeout 4 --max-time 15 "$1/$kafka_archive.sha512" 2>/dev/null; }

# fetch_kafka: unpacks what need_kafka has found; BILLING_KAFKA_HOME stays empty if there is none.
fetch_kafka() {
  local cached="$BILLING_CACHE/kafka-$kafka_version"
  [[ $kafka_source != '*' ]] || choose_kafka_site
  if [[ -n $kafka_source ]]; then
    locked "$cached.lock" unpack_source "$cached"
    ! has_kafka "$cached" || BILLING_KAFKA_HOME=$cached
  fi
  [[ -n $BILLING_KAFKA_HOME ]] ||
    say 'no Kafka found (KAFKA_HOME, BILLING_KAFKA_ARCHIVE, download): using the embedded transport, in one process'
}

unpack_source() {
  local target="$1" folder archive=$kafka_source
  ! has_kafka "$target" || return 0
  temporary_folder folder "$BILLING_CACHE"
  if [[ ! -f $archive ]]; then
    archive="$folder/$kafka_archive"
    download_kafka "$archive" || return 0
  fi
  unpack_kafka "$archive" "$folder" "$target"
  rm -rf -- "$folder"
}

# unpack_kafka ARCHIVE FOLDER TARGET: the official layout (one folder that holds libs/), or libs/ at the top level.
unpack_kafka() {
  local home
  mkdir -- "$2/unpacked"
  with_progress "unpacking Kafka $kafka_version" "$2/unpack.log" tar -xf "$1" -C "$2/unpacked" --no-same-owner ||
    die "$1 cannot be unpacked"
  for home in "$2/unpacked" "$2/unpacked"/*/; do
    if has_kafka "$home"; then
      rm -rf -- "$3"
      mv -T -- "${home%/}" "$3"
      return
    fi
  done
  die "$1 has no libs/kafka-server-*.jar, neither at the top level nor one folder below"
}

# download_kafka FILE: false if no site answers; a file that does not match its published checksum is an error.
download_kafka() {
  local site published
  for site in "${kafka_sites[@]}"; do
    published=$(published_checksum "$site") || continue
    with_progress "downloading Kafka $kafka_version, once for this machine" "$1.log" \
      curl -fsSL --connect-timeout 4 --speed-limit 10000 --speed-time 20 -o "$1" "$site/$kafka_archive" || continue
    # Published as "NAME: 8F3A 11C2 ...", over several lines.
    published=$(tr -d ' \n\t' <<<"${published#*:}" | tr '[:upper:]' '[:lower:]')
    [[ $(sha512sum <"$1") == "$published  -" ]] || die "$site/$kafka_archive does not match its published SHA-512"
    return 0
  done
  return 1
}
