# shellcheck shell=bash
# Which of the packages that the product is written against are available here, and which must be replaced by the
# projects under polyfills/. The registry, and a folder of packages if BILLING_PACKAGES names one, are queried once for each
# group of packages, and again when the wanted versions or the folder change.

# Packages that are used together or not at all, one group per line: the packages that have a polyfill, a colon, the packages that
# restore has to reconcile with them (NAME/VERSION if the version differs from the platform's), a colon, and the warnings to
# ignore.
package_groups=(
  'Grpc.Core.Api Grpc.Net.Common:Google.Protobuf Grpc.AspNetCore.Server Grpc.Net.Client:'
  'Marten:Npgsql Polly.Core Spectre.Console:'
  'NBomber:Spectre.Console/0.49.1:NU1603'
  'librdkafka.redist:Confluent.Kafka:'
)

# decide_packages: sets polyfills (the polyfills to use: ids joined by +, all, or none) and package_set (the name of their build
# output).
decide_packages() {
  local folder="$BILLING_STATE/packages"
  check_package_folder
  mkdir -p -- "$folder"
  package_asked=$(package_question)
  polyfills=$(given_polyfills)
  if [[ -z $polyfills ]]; then
    [[ -f $folder/$package_asked ]] || locked "$BILLING_STATE/packages.lock" ask_for_packages "$folder/$package_asked"
    # If no registry could be queried, there is no file.
    polyfills=$(cat -- "$folder/$package_asked" 2>/dev/null || echo all)
  fi
  [[ $polyfills != "$(all_polyfills)" ]] || polyfills=all
  case $polyfills in
    all) package_set=polyfills ;;
    none) package_set=genuine ;;
    *) package_set="polyfills-$polyfills" ;;
  esac
}

# answer_build: sets package_answer, the settings for MSBuild.
answer_build() {
  package_answer="$BILLING_STATE/packages/$package_asked-$polyfills.props"
  write_package_answer >"$package_answer.new"
  replace_if_changed "$package_answer.new" "$package_answer"
  # For builds without ./billing, which use the same packages as its last build.
  cp -- "$package_answer" "$BILLING_STATE/packages.props.new"
  replace_if_changed "$BILLING_STATE/packages.props.new" "$BILLING_STATE/packages.props"
}

# Prints once, before the first load, which load generator runs it, and its licence.
name_nbomber() {
  stands_in NBomber || [[ -f $BILLING_STATE/nbomber-named ]] || {
    say "load runs NBomber $(package_version NBomber), under the Apache licence 2.0; from version 5 on, organisations need a licence for NBomber"
    : >"$BILLING_STATE/nbomber-named"
  }
}

# stands_in ID: whether the polyfill of this package is used.
stands_in() { [[ $polyfills == all || "+$polyfills+" == *"+$1+"* ]]; }

check_package_folder() {
  [[ -n ${BILLING_PACKAGES:-} ]] || return 0
  [[ -d $BILLING_PACKAGES ]] || die "BILLING_PACKAGES is $BILLING_PACKAGES, which is not a folder"
  compgen -G "$BILLING_PACKAGES/*.nupkg" >/dev/null || die "BILLING_PACKAGES is $BILLING_PACKAGES, which contains no *.nupkg"
  BILLING_PACKAGES=$(cd -- "$BILLING_PACKAGES" && pwd)
}

# The caller's choice in the format of Polyfills, or nothing.
given_polyfills() {
  local given=${Polyfills:-} id
  if [[ -z $given ]]; then
    case ${UsePolyfills:-} in
      '') return ;;
      true) given=all ;;
      false) given=none ;;
      *) die "UsePolyfills must be true or false; it is '$UsePolyfills'" ;;
    esac
  fi
  given=${given//[;,]/+}
  if [[ $given != all && $given != none ]]; then
    for id in ${given//+/ }; do
      [[ "+$(all_polyfills)+" == *"+$id+"* ]] || die "Polyfills: there is no '$id'; there are all, none and $(all_polyfills)"
    done
    given=$(joined ${given//+/ })
  fi
  printf '%s' "$given"
}

all_polyfills() {
  local project names=()
  for project in "$BILLING_ROOT"/polyfills/*/*.csproj; do
    names+=("$(basename -- "$project" .csproj)")
  done
  joined "${names[@]}"
}

# joined ID...: in the same order everywhere, since the name of the build output contains it.
joined() { printf '%s\n' "$@" | LC_ALL=C sort -u | paste -s -d +; }

package_question() {
  {
    cat -- "$BILLING_ROOT/Directory.Packages.props"
    printf '%s\n' "${package_groups[@]}"
    package_folder_content
  } | sha256sum | cut -c 1-16
}

package_folder_content() {
  [[ -z ${BILLING_PACKAGES:-} ]] || {
    echo "$BILLING_PACKAGES"
    find "$BILLING_PACKAGES" -maxdepth 1 -name '*.nupkg' -printf '%f %s %T@\n' | sort
  }
}

# A package's content must not depend on where it was restored from first: packages of a folder get their own cache.
package_cache() { printf '%s/packages-%s' "$BILLING_CACHE" "$(package_folder_content | sha256sum | cut -c 1-16)"; }

# The properties that make restore use the folder, the same for queries and for the build.
package_folder_settings() {
  [[ -z ${BILLING_PACKAGES:-} ]] || {
    printf '    <RestoreAdditionalProjectSources>%s</RestoreAdditionalProjectSources>\n' "$BILLING_PACKAGES"
    printf '    <RestorePackagesPath>%s</RestorePackagesPath>\n' "$(package_cache)"
  }
}

write_package_answer() {
  printf '<Project>\n  <PropertyGroup>\n'
  # shellcheck disable=SC2016 # MSBuild's variables.
  printf '    <Polyfills Condition="'"'"'$(Polyfills)$(UsePolyfills)'"'"' == '"''"'">%s</Polyfills>\n' "$polyfills"
  package_folder_settings
  precompilation_settings
  printf '  </PropertyGroup>\n</Project>\n'
}

# is_unanswered FILE: whether this question was asked within the last hour and the registry could not be queried.
is_unanswered() {
  [[ -n $(find "$1.unanswered" -mmin -60 2>/dev/null) ]] || return 1
  say "the package registry could not be queried within the last hour; rm $1.unanswered to query it again"
}

# query_limit: the seconds that a query may take, downloads included. Where no registry answers, only packages that NuGet has kept can be
# found.
query_limit() {
  local source limit=60
  have curl || limit=300
  while read -r source && ((limit < 300)); do
    ! curl -sk -o /dev/null --connect-timeout 10 --max-time 60 "$source" || limit=300
  done < <(env -C "$BILLING_ROOT" dotnet nuget list source --format Short | sed -n 's/^E[^ ]* \(http.*\)/\1/p')
  printf '%s' "$limit"
}

# ask_for_packages FILE: writes the polyfills to use to the file, unless no registry could be queried.
ask_for_packages() {
  local folder log status=0 group id sources='the package registry'
  local missing=() there=()
  [[ ! -f $1 ]] || return 0
  ! is_unanswered "$1" || return 0
  [[ -z ${BILLING_PACKAGES:-} ]] || sources="the package registry and $BILLING_PACKAGES"
  temporary_folder folder "$BILLING_STATE"
  log="$folder/restore.log"
  write_questions "$folder"
  say "querying $sources for the genuine packages ..."
  (cd "$folder" && timeout "$(query_limit)" dotnet restore questions.slnx --disable-build-servers -v minimal) >"$log" 2>&1 || status=$?
  for group in "${package_groups[@]}"; do
    for id in ${group%%:*}; do
      if is_lacking "$log" "$(question_name "$group")"; then missing+=("$id"); else there+=("$id"); fi
    done
  done
  if ((status)) && { ((${#missing[@]} == 0)) || grep -q 'NU1301' "$log"; }; then
    say "could not query $sources ($(first_error "$log" "$status")); using all polyfills for now"
    : >"$1.unanswered"
  elif ((${#missing[@]})); then
    say "$sources: no $(absent_packages "$log"); using polyfills for $(listed "${missing[@]}");" \
      "genuine: $(listed "${there[@]:-none}")"
    joined "${missing[@]}" >"$1.new"
    mv -- "$1.new" "$1"
  else
    say "$sources: all genuine packages are available"
    echo none >"$1"
  fi
  rm -rf -- "$folder"
}

# The prefix keeps restore from taking the project for the package.
question_name() { printf 'ask.%s' "${1%%[ :]*}"; }

# is_lacking LOG QUESTION: restore ended that project with an error.
is_lacking() { grep -qE "/$2/$2\.csproj : error NU" "$1"; }

# Separate projects, isolated from the repository's build settings except for the wanted versions.
write_questions() {
  local group name
  printf '<Project />\n' | tee "$1/Directory.Build.props" >"$1/Directory.Build.targets"
  printf '<Project><Import Project="%s" /></Project>\n' "$BILLING_ROOT/Directory.Packages.props" >"$1/Directory.Packages.props"
  {
    printf '<Solution>\n'
    for group in "${package_groups[@]}"; do
      name=$(question_name "$group")
      mkdir -- "$1/$name"
      write_question "$group" >"$1/$name/$name.csproj"
      printf '  <Project Path="%s/%s.csproj" />\n' "$name" "$name"
    done
    printf '</Solution>\n'
  } >"$1/questions.slnx"
}

write_question() {
  local wanted beside warnings id
  IFS=: read -r wanted beside warnings <<<"$1"
  printf '<Project Sdk="Microsoft.NET.Sdk">\n<PropertyGroup><TargetFramework>net10.0</TargetFramework>'
  # As in the repository: a version other than the wanted one is an error.
  printf '<TreatWarningsAsErrors>true</TreatWarningsAsErrors><NuGetAudit>false</NuGetAudit><NoWarn>%s</NoWarn>' "$warnings"
  package_folder_settings
  printf '</PropertyGroup>\n<ItemGroup>\n'
  for id in $wanted $beside; do
    case $id in
      */*) printf '<PackageReference Include="%s" VersionOverride="%s" />\n' "${id%/*}" "${id#*/}" ;;
      *) printf '<PackageReference Include="%s" />\n' "$id" ;;
    esac
  done
  printf '</ItemGroup>\n</Project>\n'
}

absent_packages() {
  local absent
  mapfile -t absent < <(sed -nE 's/.*NU110[123]: Unable to find (a stable )?package ([^ ]+).*/\2/p' "$1" | sed 's/\.$//' | sort -u)
  if ((${#absent[@]})); then listed "${absent[@]}"; else first_error "$1" 1; fi
}

# listed WORD...: one, two, three
listed() {
  local text
  text=$(printf ', %s' "$@")
  printf '%s' "${text:2}"
}

first_error() {
  local error
  error=$(sed -nE 's/.*error (NU[0-9]+|MSB[0-9]+): ([^[]*).*/\1: \2/p' "$1" | head -n 1)
  # The status of timeout.
  [[ -n $error || $2 != 124 ]] || error='no answer in time'
  printf '%s' "${error:-dotnet restore ended with $2}" | sed 's/ *$//'
}
