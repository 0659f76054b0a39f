# shellcheck shell=bash
# ./billing rehearse: the deployment on this machine. Builds two releases and a machine image, and starts the rehearsal program.

# Debian packages of the machines: those of the image, as in a cloud image, and those that machines install at their first start.
rehearsal_image_packages=(systemd systemd-sysv dbus iproute2 procps curl ca-certificates prometheus-node-exporter
  libc6 libgcc-s1 libstdc++6 libssl3 zlib1g libzstd1 liblz4-1)
rehearsal_packages=(openjdk-17-jre-headless postgresql-15 postgresql-client prometheus zstd)

# rehearse FLAG...
rehearse() {
  build_projects load/Rehearsal/Billing.Rehearsal.csproj
  local program="$BILLING_OUTPUT/Billing.Rehearsal/release/Billing.Rehearsal.dll" folder next status=0
  dotnet "$program" rehearse "$@" --check-flags || return
  ((EUID == 0)) || die 'rehearse needs root: it creates network namespaces, control groups and containers'
  need_rehearsal_programs
  ensure_rehearsal_image
  read_package_flags --architectures "$(rehearsal_architecture)"
  package_release
  local release="$package_output"
  # The same sources with another version number: the rehearsal needs two releases that run, not different content.
  next="${package_version_wanted%%-*}"
  next="${next%.*}.$((${next##*.} + 1))"
  read_package_flags --architectures "$(rehearsal_architecture)" --version "$next"
  package_release
  temporary_folder folder "${TMPDIR:-/tmp}"
  chmod 755 "$folder"
  raise_watch_limit
  # Mounts and network namespaces are visible only in this mount namespace, and end with it.
  # shellcheck disable=SC2016
  unshare --mount --propagation private sh -euc 'mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns && exec setpriv --pdeathsig=KILL "$@"' sh \
    dotnet "$program" rehearse "$@" --repository "$BILLING_ROOT" --folder "$folder" --image "$rehearsal_image" \
    --release "$release" --next-release "$package_output" || status=$?
  restore_watch_limit
  return "$status"
}

# The systemd of each machine uses a few inotify instances; together they exceed the kernel's default limit per user. Sets
# rehearsal_watch_limit to the old value, which is restored afterwards.
raise_watch_limit() {
  local name=fs.inotify.max_user_instances
  rehearsal_watch_limit="$name=$(sysctl -n "$name")"
  if ((${rehearsal_watch_limit#*=} < 1024)); then
    say "setting $name to 1024 while the machines run; it is ${rehearsal_watch_limit#*=}"
    sysctl -qw "$name=1024"
  fi
}

restore_watch_limit() {
  [[ -z ${rehearsal_watch_limit:-} ]] || sysctl -qw "$rehearsal_watch_limit"
  rehearsal_watch_limit=
}

rehearsal_architecture() {
  case $(uname -m) in
    x86_64) printf linux-x64 ;;
    aarch64) printf linux-arm64 ;;
    *) die "there is no release for $(uname -m)" ;;
  esac
}

need_rehearsal_programs() {
  need_program ip iproute2 "to create the machines' network"
  need_program nft nftables "to create the machines' network"
  need_program systemd-nspawn systemd-container 'to run machines'
  need_program debootstrap debootstrap "to create the machine image"
  need_program apt-ftparchive apt-utils "to create the machine image"
  need_program sysctl procps "to create the machines' network"
  need_packaging
  settle_needs rehearse
  if [[ -n ${BILLING_TOOLS:-} ]]; then
    PATH="$BILLING_TOOLS:$PATH"
  fi
  have terraform || die 'terraform 1.5 or newer is missing: https://developer.hashicorp.com/terraform/install (or set BILLING_TOOLS to its folder)'
}

# ensure_rehearsal_image: sets rehearsal_image, a folder with root/, Debian 12 as in a cloud image, and packages/, the only
# package archive that the machines can install from.
ensure_rehearsal_image() {
  local key
  key=$(printf '%s\n' "${rehearsal_image_packages[@]}" "${rehearsal_packages[@]}" | cat - "$BILLING_ROOT/eng/rehearse.sh" | sha256sum | cut -c 1-16)
  rehearsal_image="$BILLING_CACHE/rehearsal-image-$key"
  [[ -d $rehearsal_image ]] || locked "$BILLING_CACHE/rehearsal-image.lock" make_rehearsal_image
}

make_rehearsal_image() {
  local folder
  [[ ! -d $rehearsal_image ]] || return 0
  temporary_folder folder "$BILLING_CACHE"
  with_progress 'building the machine image, once for this computer' "$folder/image.log" rehearsal_image_in "$folder" ||
    die 'the machine image could not be built'
  rm -rf -- "$BILLING_CACHE"/rehearsal-image-*/
  mkdir "$folder/done"
  mv -- "$folder/root" "$folder/packages" "$folder/done/"
  mv -T -- "$folder/done" "$rehearsal_image"
}

# Runs with errexit off, hence the chain of &&.
rehearsal_image_in() {
  local root="$1/root" packages="$1/packages"
  debootstrap --variant=minbase bookworm "$root" &&
    # No services are started in the folder, and dpkg does not wait for the disk.
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" && chmod +x "$root/usr/sbin/policy-rc.d" &&
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io" &&
    in_image "$root" apt-get -q update &&
    in_image "$root" apt-get -q -y --no-install-recommends install "${rehearsal_image_packages[@]}" &&
    in_image "$root" apt-get clean &&
    in_image "$root" apt-get -q -y --no-install-recommends --download-only install "${rehearsal_packages[@]}" &&
    mkdir "$packages" && mv -- "$root"/var/cache/apt/archives/*.deb "$packages/" &&
    (cd "$packages" && apt-ftparchive packages . >Packages && apt-ftparchive release . >Release) &&
    rm -rf -- "$root"/var/lib/apt/lists/* "$root/etc/apt/sources.list" "$root"/etc/apt/sources.list.d/* "$root/usr/sbin/policy-rc.d" \
      "$root/etc/hostname" "$root/etc/machine-id" "$root/var/lib/dbus/machine-id" &&
    echo 'deb [trusted=yes] file:/srv/billing/packages ./' >"$root/etc/apt/sources.list" &&
    : >"$root/etc/machine-id" && : >"$root/etc/resolv.conf" &&
    # Timers are not needed in machines that run for minutes.
    rm -f -- "$root"/etc/systemd/system/timers.target.wants/*
}

in_image() {
  local root="$1"
  shift
  DEBIAN_FRONTEND=noninteractive LC_ALL=C chroot "$root" "$@"
}
