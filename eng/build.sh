# shellcheck shell=bash
# One build of everything, left out when neither its input nor its output has changed since the last one.

# ensure_sdk: sets BILLING_SDK, the version that global.json chooses (it is looked for from the current folder upwards).
ensure_sdk() {
  have dotnet || die 'the .NET SDK 10 is missing: https://learn.microsoft.com/dotnet/core/install/linux'
  BILLING_SDK=$(env -C "$BILLING_ROOT" dotnet --version 2>&1) || die "no fitting .NET SDK: $BILLING_SDK"
}

# build_solution: sets BILLING_OUTPUT, the folder of the built projects.
build_solution() {
  BILLING_OUTPUT="$BILLING_ROOT/artifacts/$BILLING_PACKAGES/bin"
  locked "$BILLING_STATE/build.lock" build_if_changed "$BILLING_STATE/built-$BILLING_PACKAGES"
}

build_if_changed() {
  local stamp="$1" input log="$BILLING_STATE/build.log"
  input=$(build_input)
  if [[ -f $stamp && $(<"$stamp") == "$input $(build_output)" ]]; then
    return
  fi
  rm -f -- "$stamp"
  : >"$log"
  # No build server stays behind, and none inherits the lock.
  with_progress 'building' "$log" env -C "$BILLING_ROOT" dotnet build Billing.sln -c Release --nologo -v quiet \
    --disable-build-servers -p:UsePolyfills="$([[ $BILLING_PACKAGES == polyfills ]] && echo true || echo false)" 9>&- ||
    die "the build failed; everything it said is in $log"
  printf '%s' "$input $(build_output)" >"$stamp"
}

# Name, size and time of every source file, and what else a build depends on. Lock files are left out: builds write them.
build_input() {
  {
    printf '%s\n' "$BILLING_SDK"
    printf '%s\n' "${BILLING_LIBRDKAFKA:-}" "$BILLING_CACHE" "${CI:-}"
    find "$BILLING_ROOT" -maxdepth 1 -type f -printf '%p %s %T@\n'
    find "$BILLING_ROOT/src" "$BILLING_ROOT/load" "$BILLING_ROOT/tests" "$BILLING_ROOT/polyfills" "$BILLING_ROOT/eng" \
      -type d \( -name bin -o -name obj \) -prune -o -type f ! -name '*.lock.json' -printf '%p %s %T@\n'
    find "$BILLING_CACHE"/librdkafka-*/librdkafka.so ${BILLING_LIBRDKAFKA:+"$BILLING_LIBRDKAFKA"} \
      -printf '%p %s %T@\n' 2>/dev/null || true
  } | sort | sha256sum | cut -d ' ' -f 1
}

build_output() {
  { find "$BILLING_OUTPUT" -type f \( -name '*.dll' -o -name '*.so' -o -name '*.json' \) -printf '%p %s %T@\n' \
    2>/dev/null || true; } | sort | sha256sum | cut -d ' ' -f 1
}
