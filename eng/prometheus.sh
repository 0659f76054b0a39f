# shellcheck shell=bash
# Debian's Prometheus, unpacked into the cache: installing the package would create a system service and start it.

# need_prometheus: on systems other than Debian it must already be installed.
need_prometheus() {
  [[ -n ${BILLING_PROMETHEUS_BIN:-} ]] || find_prometheus || { have apt-get && have dpkg-deb; } ||
    need prometheus '' 'to monitor the stack (https://prometheus.io/download; set BILLING_PROMETHEUS_BIN to the folder of its programs)'
}

# ensure_prometheus: exports BILLING_PROMETHEUS_BIN, the folder of prometheus and promtool.
ensure_prometheus() {
  if [[ -n ${BILLING_PROMETHEUS_BIN:-} ]]; then
    has_prometheus "$BILLING_PROMETHEUS_BIN" || die "BILLING_PROMETHEUS_BIN is $BILLING_PROMETHEUS_BIN: no prometheus and promtool there"
  elif ! find_prometheus; then
    locked "$BILLING_CACHE/prometheus.lock" fetch_prometheus "$BILLING_CACHE/prometheus"
    find_prometheus || die 'the package prometheus does not contain prometheus and promtool'
  fi
  export BILLING_PROMETHEUS_BIN
}

# find_prometheus: sets it to an installed one, or to the one in the cache.
find_prometheus() {
  local folder
  for folder in "${BILLING_PROMETHEUS_BIN:-/usr/bin}" /usr/bin "$BILLING_CACHE/prometheus/usr/bin"; do
    if has_prometheus "$folder"; then
      BILLING_PROMETHEUS_BIN=$folder
      return
    fi
  done
  return 1
}

has_prometheus() { [[ -x $1/prometheus && -x $1/promtool ]]; }

fetch_prometheus() {
  local folder
  ! has_prometheus "$1/usr/bin" || return 0
  if ! have apt-get || ! have dpkg-deb; then
    die 'please install prometheus, or set BILLING_PROMETHEUS_BIN to the folder of its programs: this machine has no apt-get'
  fi
  temporary_folder folder "$BILLING_CACHE"
  # The user that apt prefers for downloads may not write here; apt prints a warning and continues as root.
  if ! (cd -- "$folder" && with_progress 'downloading prometheus, once for this machine' download.log apt-get download -q prometheus); then
    can_install || die 'could not download the package prometheus: its lists are out of date (sudo apt-get update)'
    refresh_lists
    (cd -- "$folder" && with_progress 'downloading prometheus, once for this machine' download.log apt-get download -q prometheus) ||
      die 'could not download the package prometheus'
  fi
  dpkg-deb -x "$folder"/prometheus_*.deb "$folder/unpacked" || die 'the package prometheus cannot be unpacked'
  rm -rf -- "$1"
  mv -T -- "$folder/unpacked" "$1"
}
