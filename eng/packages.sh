# shellcheck shell=bash
# What a package registry may lack: two packages, for which the projects under polyfills/ stand in (docs/decisions/0016), and the
# ReadyToRun compiler, without which programs are compiled at run time (eng/ReadyToRun.targets).

# decide_packages: sets replaceable_packages, the build's own list, polyfills (none, or the ids of those to use, joined by +), crossgen
# (the compiler's file, or nothing), and package_question, the name of the question.
# The registry, and the folder of BILLING_PACKAGES, are queried once, and again when the SDK, a version or the folder changes.
decide_packages() {
  local answer
  IFS=+ read -r -a replaceable_packages < <(sed -n 's:.*<AllPolyfills>\(.*\)</AllPolyfills>.*:\1:p' "$BILLING_ROOT/Directory.Build.props")
  check_package_folder
  check_given_polyfills
  mkdir -p -- "$BILLING_STATE/packages"
  package_question=$(describe_question | sha256sum | cut -c 1-16)
  answer="$BILLING_STATE/packages/$package_question"
  is_answered "$answer" || locked "$BILLING_CACHE/packages.lock" ask_for_packages "$answer"
  polyfills=${Polyfills:-$polyfills}
  [[ $polyfills != all ]] || polyfills=$(joined "${replaceable_packages[@]}")
}

# is_answered FILE: reads an earlier answer. The cache may have been emptied since.
is_answered() {
  polyfills='' crossgen=''
  [[ -f $1 ]] || return 1
  { read -r polyfills && read -r crossgen; } <"$1"
  [[ -z $crossgen || -x $crossgen ]]
}

# answer_build: sets package_answer, the settings for MSBuild.
answer_build() {
  package_answer="$BILLING_STATE/packages/$package_question-$polyfills.props"
  write_package_answer >"$package_answer.new"
  replace_if_changed "$package_answer.new" "$package_answer"
  # For builds without ./billing, which use the same packages as its last build.
  cp -- "$package_answer" "$BILLING_STATE/packages.props.new"
  replace_if_changed "$BILLING_STATE/packages.props.new" "$BILLING_STATE/packages.props"
}

# Prints what stands in, for commands whose results depend on it, and once, before the first load, which NBomber runs it.
name_packages() {
  if [[ $polyfills == none ]]; then say 'all packages are genuine'; else say "stand-ins for missing packages: ${polyfills//+/, }"; fi
  [[ $1 != load ]] || stands_in NBomber || [[ -f $BILLING_STATE/nbomber-named ]] || {
    say "load runs NBomber $(package_version NBomber), under the Apache licence 2.0; from version 5 on, organisations need a licence for NBomber"
    : >"$BILLING_STATE/nbomber-named"
  }
}

# stands_in ID: whether the polyfill of this package is used.
stands_in() { [[ "+$polyfills+" == *"+$1+"* ]]; }

check_package_folder() {
  [[ -n ${BILLING_PACKAGES:-} ]] || return 0
  [[ -d $BILLING_PACKAGES ]] || die "BILLING_PACKAGES is $BILLING_PACKAGES, which is not a folder"
  compgen -G "$BILLING_PACKAGES/*.nupkg" >/dev/null || die "BILLING_PACKAGES is $BILLING_PACKAGES, which contains no *.nupkg"
  BILLING_PACKAGES=$(cd -- "$BILLING_PACKAGES" && pwd)
}

check_given_polyfills() {
  local id
  for id in ${Polyfills:+${Polyfills//+/ }}; do
    [[ " all none ${replaceable_packages[*]} " == *" $id "* ]] ||
      die "Polyfills: there is no '$id'; there are all, none and $(joined "${replaceable_packages[@]}")"
  done
}

joined() {
  local IFS=+
  printf '%s' "$*"
}

describe_question() {
  printf '%s\n' "$BILLING_SDK" "$BILLING_CACHE"
  cat -- "$BILLING_ROOT/Directory.Packages.props"
  package_folder_content
}

package_folder_content() {
  [[ -z ${BILLING_PACKAGES:-} ]] || {
    echo "$BILLING_PACKAGES"
    find "$BILLING_PACKAGES" -maxdepth 1 -name '*.nupkg' -printf '%f %s %T@\n' | sort
  }
}

# The properties that make restore use the folder, the same for queries and for the build. A package's content must not depend on where
# it was restored from first: packages of a folder get their own cache.
package_folder_settings() {
  [[ -z ${BILLING_PACKAGES:-} ]] || {
    printf '    <RestoreAdditionalProjectSources>%s</RestoreAdditionalProjectSources>\n' "$BILLING_PACKAGES"
    printf '    <RestorePackagesPath>%s/packages-%s</RestorePackagesPath>\n' "$BILLING_CACHE" "$(package_folder_content | sha256sum | cut -c 1-16)"
  }
}

write_package_answer() {
  local tools=${crossgen%/*}
  printf '<Project>\n  <PropertyGroup>\n    <Polyfills>%s</Polyfills>\n' "$polyfills"
  package_folder_settings
  # A registry that does not answer would be waited for in each build: what NuGet has kept has to do.
  [[ -z $registry_silent ]] || printf '    <RestoreSources>%s</RestoreSources>\n' "$BILLING_STATE/packages"
  # Each compiler has its own folder for compiled assemblies.
  [[ -z $crossgen ]] ||
    printf '    <ReadyToRunCompiler>%s</ReadyToRunCompiler>\n    <ReadyToRunCache>%s/compiled</ReadyToRunCache>\n' "$crossgen" "${tools%/*}"
  printf '  </PropertyGroup>\n</Project>\n'
}

# query_limit: the seconds that the query may take, downloads included. Where no registry answers, only packages that NuGet has kept can
# be found.
query_limit() {
  local source limit=60
  have curl || limit=300
  while read -r source && ((limit < 300)); do
    ! curl -sk -o /dev/null --connect-timeout 10 --max-time 60 "$source" || limit=300
  done < <(env -C "$BILLING_ROOT" dotnet nuget list source --format Short | sed -n 's/^E[^ ]* \(http.*\)/\1/p')
  printf '%s' "$limit"
}

registry_silent=

# ask_for_packages FILE: sets polyfills and crossgen, and writes them to the file unless no registry could be queried.
ask_for_packages() {
  local folder log status=0 id missing=()
  ! is_answered "$1" || return 0
  polyfills=all crossgen=''
  if [[ -n $(find "$1.unanswered" -mmin -60 2>/dev/null) ]]; then
    registry_silent=yes
    say "the package registry did not answer within the last hour; rm $1.unanswered to query it again"
    return
  fi
  temporary_folder folder "$BILLING_STATE"
  log="$folder/restore.log"
  write_questions "$folder"
  say "querying the package registry${BILLING_PACKAGES:+ and $BILLING_PACKAGES} ..."
  (cd "$folder" && timeout "$(query_limit)" dotnet restore questions.slnx --disable-build-servers -v minimal) >"$log" 2>&1 9>&- || status=$?
  for id in "${replaceable_packages[@]}"; do
    ! is_lacking "$log" "$id" || missing+=("$id")
  done
  if ((status)) && { grep -q NU1301 "$log" || ! grep -q 'error NU' "$log"; }; then
    registry_silent=yes
    say "the package registry does not answer ($(first_error "$log" "$status")): building with packages that NuGet has kept," \
      'stand-ins, and no native code'
    : >"$1.unanswered"
  else
    polyfills=$(joined "${missing[@]:-none}")
    if is_lacking "$log" crossgen; then
      say 'programs are compiled at run time: the package registry lacks the ReadyToRun compiler'
    else
      crossgen=$(dotnet msbuild "$folder/ask.crossgen/ask.crossgen.csproj" -getProperty:Crossgen -nodeReuse:false)
    fi
    printf '%s\n%s\n' "$polyfills" "$crossgen" >"$1.new"
    mv -- "$1.new" "$1"
  fi
  rm -rf -- "$folder"
}

# is_lacking LOG NAME: restore ended that question with an error.
is_lacking() { grep -qE "/ask\.$2\.csproj : error NU" "$1"; }

# write_questions FOLDER: a project for each package, isolated from the repository's build settings. The prefix of their names keeps
# restore from taking a project for the package.
write_questions() {
  local id
  printf '<Project />\n' | tee "$1/Directory.Build.props" "$1/Directory.Packages.props" >"$1/Directory.Build.targets"
  {
    printf '<Solution>\n'
    for id in "${replaceable_packages[@]}" crossgen; do
      mkdir -- "$1/ask.$id"
      write_question "$id" >"$1/ask.$id/ask.$id.csproj"
      printf '  <Project Path="ask.%s/ask.%s.csproj" />\n' "$id" "$id"
    done
    printf '</Solution>\n'
  } >"$1/questions.slnx"
}

# write_question ID: as in the repository, a version other than the wanted one is an error, but for what NBomber asks for. The compiler has
# the version of the SDK's runtime.
write_question() {
  local version
  printf '<Project Sdk="Microsoft.NET.Sdk">\n<PropertyGroup><TargetFramework>net10.0</TargetFramework><NuGetAudit>false</NuGetAudit>\n'
  if [[ $1 == crossgen ]]; then
    printf '<RestorePackagesPath>%s/crossgen</RestorePackagesPath>\n' "$BILLING_CACHE"
    printf '<RestoreAdditionalProjectSources>%s</RestoreAdditionalProjectSources></PropertyGroup>\n' "${BILLING_PACKAGES:-}"
    cat <<'PROJECT'
<ItemGroup><PackageDownload Include="Microsoft.NETCore.App.Crossgen2.$(NETCoreSdkPortableRuntimeIdentifier)"
                            Version="[$(BundledNETCoreAppPackageVersion)]" /></ItemGroup>
<PropertyGroup><Crossgen>$(RestorePackagesPath)/microsoft.netcore.app.crossgen2.$(NETCoreSdkPortableRuntimeIdentifier)/$(BundledNETCoreAppPackageVersion)/tools/crossgen2</Crossgen></PropertyGroup>
PROJECT
  else
    printf '<TreatWarningsAsErrors>true</TreatWarningsAsErrors>\n'
    package_folder_settings
    [[ $1 != NBomber ]] || printf '<NoWarn>NU1603</NoWarn>\n'
    version=$(package_version "$1") || exit
    printf '</PropertyGroup>\n<ItemGroup><PackageReference Include="%s" Version="[%s]" /></ItemGroup>\n' "$1" "$version"
  fi
  printf '</Project>\n'
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
