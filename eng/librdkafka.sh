# shellcheck shell=bash
# librdkafka for registries without librdkafka.redist: the npm package below contains the full source of exactly the version
# that Confluent.Kafka requires.

librdkafka_package='@confluentinc/kafka-javascript@1.10.1'
librdkafka_sha512='29578f5019f6d44a8254ff667f1cc4b8cdd26091c7105ed7fa2882d9ee374108034b211a92c2279821a8a13df0e6af9c340764482acaef58f42027eaa12a992f'

# need_librdkafka WHY: records the programs needed to build it, unless it is already built.
need_librdkafka() {
  if [[ -n ${BILLING_LIBRDKAFKA:-} ]]; then
    [[ -f $BILLING_LIBRDKAFKA ]] || die "BILLING_LIBRDKAFKA names $BILLING_LIBRDKAFKA, which does not exist"
  elif [[ ! -f $(librdkafka_file) ]]; then
    need_program gcc gcc "$1"
    need_program make make "$1"
    need_program npm npm "$1"
    need_file /usr/include/stdio.h libc6-dev "$1"
    need_file /usr/include/openssl/ssl.h libssl-dev "$1"
    need_file /usr/include/zlib.h zlib1g-dev "$1"
    need_file /usr/include/zstd.h libzstd-dev "$1"
  fi
}

librdkafka_file() { printf '%s/librdkafka-%s/librdkafka.so' "$BILLING_CACHE" "$(package_version librdkafka.redist)"; }

# ensure_librdkafka: afterwards a librdkafka.so is where polyfills/librdkafka.redist looks for it.
ensure_librdkafka() {
  local version target
  version=$(package_version librdkafka.redist)
  target=$(librdkafka_file)
  [[ -n ${BILLING_LIBRDKAFKA:-} || -f $target ]] ||
    locked "$BILLING_CACHE/librdkafka-$version.lock" build_librdkafka "$version" "$target"
}

build_librdkafka() {
  local version="$1" target="$2" folder
  # Another clone may have built it while this one waited for the lock.
  [[ ! -f $target ]] || return 0
  temporary_folder folder "$BILLING_CACHE"
  with_progress "building librdkafka $version, once for this machine" "$folder/build.log" \
    librdkafka_from_source "$folder" "$version" || die "librdkafka $version could not be built"
  mkdir -p "$folder/done"
  mv -- "$folder/src/librdkafka.so" "$folder/LICENSES.txt" "$folder/done/"
  rm -rf -- "$BILLING_CACHE/librdkafka-$version"
  mv -T -- "$folder/done" "$BILLING_CACHE/librdkafka-$version"
  rm -rf -- "$folder"
}

# Runs where errexit is off (a failing step is reported by the caller), hence the chain of &&. configure insists on a C++
# compiler, which the C library does not need: gcc is accepted as one.
librdkafka_from_source() (
  cd "$1" &&
    npm pack --silent "$librdkafka_package" &&
    archive=$(echo confluentinc-kafka-javascript-*.tgz) &&
    echo "$librdkafka_sha512  $archive" | sha512sum --check --strict &&
    tar -xzf "$archive" --strip-components=3 package/deps/librdkafka &&
    grep -q "$(librdkafka_version_number "$2")" src/rdkafka.h &&
    CXX=gcc bash ./configure --disable-gssapi --disable-curl --disable-debug-symbols &&
    make -C src -j"$(nproc)" librdkafka.so.1 &&
    strip --strip-unneeded -o src/librdkafka.so src/librdkafka.so.1
)

# 2.15.1 is written 0x020f01ff in rdkafka.h.
librdkafka_version_number() {
  local major minor patch
  IFS=. read -r major minor patch <<<"$1"
  printf '#define RD_KAFKA_VERSION 0x%02x%02x%02xff' "$major" "$minor" "$patch"
}
