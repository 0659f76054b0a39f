#!/usr/bin/env bash
# Builds images from a release's archives with podman, buildah or Docker, whichever is available.
set -euo pipefail

usage() {
  cat <<'HELP'
Usage: deploy/containers/build.sh [options] [proxy|backend|webhooks|operator|servers]...

Builds billing-SERVICE:VERSION for the given services, by default for all five; servers are brokers and database.

  --release FOLDER   output of ./billing package; default: where deploy/ was unpacked,
                     else the newest in artifacts/release
  --base IMAGE       base image; default: that of the Containerfile
  --builder NAME     podman, buildah or docker; default: the first available
HELP
}

die() {
  printf 'build.sh: %s\n' "$*" >&2
  exit 1
}

# The docker command needs a running engine.
can_build() {
  case $1 in
    docker) command -v docker >/dev/null && docker info >/dev/null 2>&1 ;;
    podman | buildah) command -v "$1" >/dev/null ;;
    *) die "--builder: '$1' is unknown; use podman, buildah or docker" ;;
  esac
}

choose_builder() {
  local name
  for name in podman buildah docker; do
    if can_build "$name"; then
      echo "$name"
      return
    fi
  done
  die 'no program to build images: install podman, buildah, or docker with a running engine' \
    '(Debian: apt-get install buildah)'
}

here=$(cd -- "$(dirname -- "$0")" && pwd)
release='' base='' builder='' services=()
while (($#)); do
  case $1 in
    --help | -h)
      usage
      exit 0
      ;;
    --release | --base | --builder)
      (($# > 1)) || die "$1: the value is missing"
      printf -v "${1#--}" '%s' "$2"
      shift 2
      ;;
    proxy | backend | webhooks | operator | servers)
      services+=("$1")
      shift
      ;;
    *) die "unknown argument '$1'; see --help" ;;
  esac
done
((${#services[@]})) || services=(proxy backend webhooks operator servers)
[[ -n $release || ! -f $here/../../SHA256SUMS ]] || release=$(cd -- "$here/../.." && pwd)
if [[ -z $release ]]; then
  release=$(find "$here/../../artifacts/release" -mindepth 2 -maxdepth 2 \
    -name SHA256SUMS -printf '%T@ %h\n' 2>/dev/null |
    sort -rn | head -n 1 | cut -d ' ' -f 2-)
  [[ -n $release ]] || die 'there is no release in artifacts/release; run ./billing package, or use --release FOLDER'
fi
[[ -f $release/SHA256SUMS ]] || die "--release: $release has no SHA256SUMS"
(cd -- "$release" && sha256sum --check --strict --quiet SHA256SUMS) || die "$release does not match its SHA256SUMS"
version=$(sed -nE 's/.*"release_version": "([^"]+)".*/\1/p' "$release/release.auto.tfvars.json")
[[ -n $version ]] || die "$release/release.auto.tfvars.json has no release_version"
case $(uname -m) in
  x86_64) runtime=linux-x64 ;;
  aarch64) runtime=linux-arm64 ;;
  *) die "there are no archives for $(uname -m)" ;;
esac
if [[ -z $builder ]]; then
  builder=$(choose_builder)
else
  can_build "$builder" || die "--builder: $builder is not available"
fi

declare -A programs=(
  [proxy]=Billing.Proxy [backend]=Billing.Backends [webhooks]=Billing.Webhooks [operator]=Billing.Operator
)
for service in "${services[@]}"; do
  if [[ $service == servers ]]; then
    file=Containerfile.servers arguments=()
  else
    [[ -f $release/billing-$service-$version-$runtime.tar.gz ]] || die "$release has no billing-$service for $runtime"
    file=Containerfile
    arguments=(--build-arg "SERVICE=$service" --build-arg "PROGRAM=${programs[$service]}"
      --build-arg "RUNTIME=$runtime")
  fi
  "$builder" build -f "$here/$file" -t "billing-$service:$version" ${base:+--build-arg "BASE=$base"} \
    --build-arg "VERSION=$version" \
    "${arguments[@]}" "$release"
  printf 'build.sh: billing-%s:%s\n' "$service" "$version" >&2
done
