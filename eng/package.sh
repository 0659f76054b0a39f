# shellcheck shell=bash
# ./billing package: an archive of each program for each architecture, the archives of the brokers and the bootstrap, with
# checksums and bills of materials, and the SDK's packages. The same commit gives the same bytes in any folder.

# The name of the archive, and the folder of the program.
release_programs=(proxy:src/Proxy backend:src/Backends client:src/LoadClient cli:load/Cli)
release_architectures=(linux-x64 linux-arm64)

# read_package_flags FLAG...: sets package_version_wanted, package_architectures, package_chosen (whether they were given),
# package_output and package_check, or stops. The names of the flags have been checked.
read_package_flags() {
  package_version_wanted=$(sed -n 's:.*<Version>\([^<]*\)</Version>.*:\1:p' "$BILLING_ROOT/Directory.Build.props" | head -n 1)
  package_architectures=("${release_architectures[@]}")
  package_chosen='' package_output='' package_check=''
  local flag value
  while (($#)); do
    flag=$1 value=
    shift
    case $flag in
      --check)
        package_check=yes
        continue
        ;;
      --version=* | --architectures=* | --output=*) value=${flag#*=} flag=${flag%%=*} ;;
      --version | --architectures | --output)
        value=$1
        shift
        ;;
    esac
    take_package_flag "$flag" "$value"
  done
  check_version "$package_version_wanted"
  package_output=${package_output:-$BILLING_ROOT/artifacts/release/$package_version_wanted}
  check_output
}

# take_package_flag FLAG VALUE
take_package_flag() {
  case $1 in
    --version) package_version_wanted=$2 ;;
    --output)
      [[ -n $2 ]] || die '--output: the folder is missing'
      package_output=$2
      ;;
    --architectures)
      local architecture
      package_chosen=yes
      IFS=, read -r -a package_architectures <<<"$2"
      ((${#package_architectures[@]})) || die "--architectures: there are $(listed "${release_architectures[@]}")"
      for architecture in "${package_architectures[@]}"; do
        [[ " ${release_architectures[*]} " == *" $architecture "* ]] ||
          die "--architectures: '$architecture' is not an architecture; there are $(listed "${release_architectures[@]}")"
      done
      mapfile -t package_architectures < <(printf '%s\n' "${package_architectures[@]}" | sort -u)
      ;;
  esac
}

# The version is part of file names and of images' tags, which do not allow build metadata.
check_version() {
  local number='(0|[1-9][0-9]*)' identifier='(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)'
  [[ $1 =~ ^$number\.$number\.$number(-$identifier(\.$identifier)*)?$ ]] ||
    die "--version: '$1' is not a SemVer version without build metadata, such as 1.2.3 or 1.2.3-rc.1"
}

check_output() {
  can_make "$package_output" || die "--output: cannot write to $package_output"
  package_output=$(cd -- "$package_output" && pwd)
  [[ -f $package_output/SHA256SUMS || -z $(ls -A -- "$package_output") ]] ||
    die "--output: $package_output is not empty and is not a release: it has no SHA256SUMS"
}

need_packaging() {
  need_program jq jq 'to list the components of a program'
  need_program readelf binutils 'to find out which libraries a program needs'
}

# package_release: builds the release that the flags describe.
package_release() {
  [[ -n ${BILLING_KAFKA_HOME:-} ]] || die 'a release contains Kafka, and none was found (KAFKA_HOME, BILLING_KAFKA_ARCHIVE, download)'
  [[ -z $package_check ]] || require_committed
  package_epoch=$(release_time)
  local staging folder
  temporary_folder staging "$BILLING_STATE"
  folder="$staging/release"
  mkdir -- "$folder"
  publish_programs "$staging" "$folder"
  say 'packing Kafka ...'
  package_kafka "$staging" "$folder"
  package_bootstrap "$staging" "$folder"
  pack_sdk "$folder"
  try_sdk "$folder"
  (cd "$folder" && sha256sum -- *.tar.gz *.sbom.json *.nupkg *.snupkg >SHA256SUMS)
  # Only files of an earlier release; see check_output.
  find "$package_output" -mindepth 1 -maxdepth 1 -type f -delete
  mv -- "$folder"/* "$package_output/"
  say "the release is in $package_output"
  [[ -z $package_check ]] || compare_with_a_clone
}

# The time of the commit, unless SOURCE_DATE_EPOCH is set; outside of a clone, the time of the newest source file.
release_time() {
  [[ -z ${SOURCE_DATE_EPOCH:-} ]] || {
    [[ $SOURCE_DATE_EPOCH =~ ^[0-9]+$ ]] || die "SOURCE_DATE_EPOCH is '$SOURCE_DATE_EPOCH', which is not a number of seconds"
    echo "$SOURCE_DATE_EPOCH"
    return
  }
  git -C "$BILLING_ROOT" log -1 --format=%ct 2>/dev/null ||
    find "$BILLING_ROOT/src" "$BILLING_ROOT/load" "$BILLING_ROOT/deploy" "$BILLING_ROOT/eng" -type f -printf '%T@\n' | sort -n | tail -n 1 | cut -d . -f 1
}

# leave_out ARCHITECTURE WHY: stops if the architecture was given explicitly.
leave_out() {
  [[ -z $package_chosen ]] || die "--architectures: $1 cannot be built: $2"
  say "$1 is left out: $2"
}

# publish_programs STAGING FOLDER
publish_programs() {
  local architecture program projects=() made=0 published
  for program in "${release_programs[@]}"; do
    projects+=("${program#*:}/Billing.${program##*/}.csproj")
  done
  for architecture in "${package_architectures[@]}"; do
    locked "$BILLING_STATE/release.lock" publish_projects "$architecture" "${projects[@]}"
    published="$BILLING_ROOT/artifacts/publishing/publish"
    if ! has_librdkafka "$published/Billing.Proxy/release_$architecture" "$architecture"; then
      leave_out "$architecture" 'the package librdkafka.redist has no library for it'
      continue
    fi
    for program in "${release_programs[@]}"; do
      package_program "$1" "$2" "${program%%:*}" "Billing.${program##*/}" "$architecture" \
        "$published/Billing.${program##*/}/release_$architecture"
    done
    made=$((made + 1))
  done
  ((made)) || die 'a release cannot be built here for any architecture'
}

# publish_projects ARCHITECTURE PROJECT...
publish_projects() {
  local architecture="$1" filter="$BILLING_STATE/release.slnf" log="$BILLING_STATE/release.log"
  shift
  # Files of an earlier publish that are no longer part of the program must not be packed.
  rm -rf -- "$BILLING_ROOT/artifacts/publishing/publish"
  solution_filter "$@" >"$filter"
  : >"$log"
  with_progress "publishing for $architecture" "$log" env -C "$BILLING_ROOT" dotnet publish "$filter" -c Release --nologo -v quiet \
    --disable-build-servers -p:PackageAnswer="$package_answer" \
    -p:ReleaseRuntime="$architecture" -p:ReleaseVersion="$package_version_wanted" 9>&- ||
    die "publishing failed; its output is in $log"
}

# has_librdkafka FOLDER ARCHITECTURE: whether the folder contains a librdkafka that this architecture can load; see Release.targets.
has_librdkafka() {
  local machine=X86-64 builds=("$1"/*librdkafka.so)
  [[ $2 != linux-arm64 ]] || machine=AArch64
  [[ -f ${builds[0]} ]] && readelf -h "${builds[0]}" | grep -q "Machine:.*$machine"
}

# package_program STAGING FOLDER SERVICE PROGRAM ARCHITECTURE PUBLISHED
package_program() {
  local staging="$1" service="$3" program="$4" architecture="$5" published="$6" top name other packages
  top="$staging/billing-$service-$package_version_wanted"
  name="billing-$service-$package_version_wanted-$architecture"
  say "packing $name ..."
  rm -rf -- "$top"
  cp -r -- "$published" "$top"
  # The launchers of the platform's other programs, which are useless without their other files.
  for other in "${release_programs[@]/#*\//Billing.}"; do
    [[ $other == "$program" ]] || rm -f -- "$top/$other" "$top/$other".{runtimeconfig,deps}.json
  done
  cp -- "$BILLING_ROOT/LICENSE" "$top/LICENSE"
  printf '%s\n' "$package_version_wanted" >"$top/VERSION"
  required_packages "$top" >"$staging/requires"
  mv -- "$staging/requires" "$top/REQUIRES"
  packages=$(packages_of_release "$program")
  write_sbom "$published" "$program" "$package_version_wanted" "$architecture" "$packages" "$package_epoch" >"$top/sbom.json"
  copy_licenses "$published" "$packages" "$top"
  cp -- "$top/sbom.json" "$2/$name.sbom.json"
  archive_of "$staging" "${top##*/}" "$2/$name.tar.gz"
}

# copy_licenses PUBLISHED PACKAGES TOP: the licences and notices of the libraries.
copy_licenses() {
  local name file
  mkdir -- "$3/licenses"
  while read -r name; do
    while IFS= read -r file; do
      mkdir -p -- "$3/licenses/${name%/*}"
      cp -- "$file" "$3/licenses/${name%/*}/"
    done < <(find "$2/${name,,}" -maxdepth 1 -type f \( -iname 'license*' -o -iname 'notice*' -o -iname 'third-party*' \))
  done < <(jq -r '.libraries | to_entries[] | select(.value.type != "project") | .key | ltrimstr("runtimepack.")' "$1"/*.deps.json)
}

# packages_of_release PROGRAM: the folder that restore took packages from.
packages_of_release() {
  jq -r .project.restore.packagesPath "$BILLING_ROOT/artifacts/publishing/obj/$1/project.assets.json"
}

# archive_of FOLDER NAME ARCHIVE: gives the same bytes for the same content: order, owner, mode and time do not depend on this machine.
archive_of() {
  tar --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$package_epoch" --format=gnu \
    -C "$1" -cf - -- "$2" | gzip -n >"$3"
}

# package_kafka STAGING FOLDER
package_kafka() {
  local top="$1/kafka-$kafka_version" file
  mkdir -p -- "$top/libs"
  cp -- "$BILLING_KAFKA_HOME"/libs/*.jar "$top/libs/"
  # An installation with only jars has no licence file; Kafka's licence is the same as ours.
  cp -- "$BILLING_ROOT/LICENSE" "$top/LICENSE"
  for file in LICENSE NOTICE; do
    [[ ! -f $BILLING_KAFKA_HOME/$file ]] || cp -- "$BILLING_KAFKA_HOME/$file" "$top/"
  done
  archive_of "$1" "${top##*/}" "$2/kafka-$kafka_version.tar.gz"
}

# package_bootstrap STAGING FOLDER: with the checksums of the other archives, so that one hash in a machine's user data covers
# all of them.
package_bootstrap() {
  local top="$1/bootstrap" archive hash
  archive="$2/billing-bootstrap-$package_version_wanted.tar.gz"
  mkdir -- "$top"
  if [[ -d $BILLING_ROOT/deploy/bootstrap ]]; then
    cp -r -- "$BILLING_ROOT/deploy/bootstrap/." "$top/"
  else
    say 'there is no deploy/bootstrap: its archive contains checksums only'
  fi
  (cd "$2" && sha256sum -- *.tar.gz) >"$top/SHA256SUMS"
  archive_of "$top" . "$archive"
  hash=$(sha256sum <"$archive" | cut -d ' ' -f 1)
  jq -n --arg version "$package_version_wanted" --arg hash "$hash" \
    '{ release_version: $version, bootstrap_sha256: $hash }' >"$2/release.auto.tfvars.json"
}

# required_packages FOLDER: the Debian packages of the libraries that the programs in it load, one per line.
required_packages() {
  {
    # Loaded on first use, so no program lists them.
    printf '%s\n' ca-certificates libssl3
    needed_libraries "$1" | while read -r library; do
      [[ -e $1/$library ]] || package_of_library "$library"
    done
  } | LC_ALL=C sort -u
}

# The libraries for LTTng tracing are optional.
needed_libraries() {
  find "$1" -type f \( -name '*.so' -o -perm -u+x ! -name '*.dll' \) ! -name libcoreclrtraceptprovider.so \
    -exec readelf -d {} + 2>/dev/null | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' | sort -u
}

package_of_library() {
  local package
  # On another architecture the loader has another name, but comes from the same package.
  case $1 in ld-linux-*) set -- libc.so.6 ;; esac
  package=$(dpkg -S "*/$1" 2>/dev/null | sed -nE 's/^([^:, ]+)(:[^ ]+)?: .*/\1/p' | head -n 1) || true
  [[ -n $package ]] || die "no installed Debian package contains $1"
  echo "$package"
}

require_committed() {
  local changed
  changed=$(git -C "$BILLING_ROOT" status --porcelain 2>&1) || die "--check needs a clone: $changed"
  [[ -z $changed ]] || die "--check packages a clone of the committed sources; these are not committed: $changed"
}

compare_with_a_clone() {
  local folder file origin different=0
  temporary_folder folder "${TMPDIR:-/tmp}"
  git clone -q -- "$BILLING_ROOT" "$folder/another/clone"
  # Symbols contain the address of the source repository.
  ! origin=$(git -C "$BILLING_ROOT" remote get-url origin 2>/dev/null) || git -C "$folder/another/clone" remote set-url origin "$origin"
  say "packaging again, in $folder ..."
  SOURCE_DATE_EPOCH=$package_epoch "$folder/another/clone/billing" package --version "$package_version_wanted" --output "$folder/release" \
    ${package_chosen:+--architectures "$(IFS=, && echo "${package_architectures[*]}")"}
  for file in "$package_output"/* "$folder/release"/*; do
    cmp -- "$package_output/${file##*/}" "$folder/release/${file##*/}" || different=$((different + 1))
  done
  ((different == 0)) || die 'the two releases differ'
  say 'packaging in another folder gave the same bytes'
}
