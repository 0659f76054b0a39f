# shellcheck shell=bash
# What a package registry may lack: NBomber, for which the project under polyfills/ stands in (docs/decisions/0016),
# and the ReadyToRun compiler, without which programs are compiled at run time (eng/ReadyToRun.targets).

# decide_packages: sets nbomber_stand_in (true or false), crossgen (the compiler's file, or nothing) and package_answer,
# the settings for MSBuild. The registry, and the folder of BILLING_PACKAGES, are queried once, and again when the SDK,
# a version or the folder changes.
decide_packages() {
  local question answer
  check_package_folder
  case ${NBomberStandIn:-} in
    '' | true | false) ;;
    *) die "NBomberStandIn is '$NBomberStandIn'; it may be true or false" ;;
  esac
  mkdir -p -- "$BILLING_STATE/packages"
  question=$({ printf '%s\n' "$BILLING_SDK" "$BILLING_CACHE" &&
    cat -- "$BILLING_ROOT/Directory.Packages.props" && package_folder_content; } |
    sha256sum | cut -c 1-16)
  answer="$BILLING_STATE/packages/$question"
  is_answered "$answer" || locked "$BILLING_CACHE/packages.lock" ask_for_packages "$answer"
  nbomber_stand_in=${NBomberStandIn:-$nbomber_stand_in}
  package_answer="$answer-$nbomber_stand_in.props"
  write_package_answer | replace_if_changed "$package_answer"
  # For builds without ./billing, which use the same packages as its last build.
  replace_if_changed "$BILLING_STATE/packages.props" <"$package_answer"
}

# is_answered FILE: reads an earlier answer. The cache may have been emptied since.
is_answered() {
  nbomber_stand_in='' crossgen=''
  [[ -f $1 ]] || return 1
  { read -r nbomber_stand_in && read -r crossgen; } <"$1"
  [[ -z $crossgen || -x $crossgen ]]
}

# Prints what stands in, for commands whose results depend on it, and once, before the first load,
# which NBomber runs it.
name_packages() {
  if [[ $nbomber_stand_in == false ]]; then
    say 'all packages are genuine'
  else
    say 'stand-in for a missing package: NBomber'
  fi
  [[ $1 != load || $nbomber_stand_in == true || -f $BILLING_STATE/nbomber-named ]] || {
    say "load runs NBomber $(package_version NBomber), under the Apache licence 2.0;" \
      'from version 5 on, organisations need a licence for NBomber'
    : >"$BILLING_STATE/nbomber-named"
  }
}

check_package_folder() {
  [[ -n ${BILLING_PACKAGES:-} ]] || return 0
  [[ -d $BILLING_PACKAGES ]] || die "BILLING_PACKAGES is $BILLING_PACKAGES, which is not a folder"
  compgen -G "$BILLING_PACKAGES/*.nupkg" >/dev/null ||
    die "BILLING_PACKAGES is $BILLING_PACKAGES, which contains no *.nupkg"
  BILLING_PACKAGES=$(cd -- "$BILLING_PACKAGES" && pwd)
}

package_folder_content() {
  [[ -z ${BILLING_PACKAGES:-} ]] || find "$BILLING_PACKAGES" -maxdepth 1 -name '*.nupkg' -printf '%p %s %T@\n' | sort
}

# The properties that make restore use the folder, the same for queries and for the build. A package's content must not
# depend on where it was restored from first: packages of a folder get their own cache.
package_folder_settings() {
  [[ -z ${BILLING_PACKAGES:-} ]] || {
    printf '    <RestoreAdditionalProjectSources>%s</RestoreAdditionalProjectSources>\n' "$BILLING_PACKAGES"
    printf '    <RestorePackagesPath>%s/packages-%s</RestorePackagesPath>\n' \
      "$BILLING_CACHE" "$(package_folder_content | sha256sum | cut -c 1-16)"
  }
}

write_package_answer() {
  local tools=${crossgen%/*}
  printf '<Project>\n  <PropertyGroup>\n    <NBomberStandIn>%s</NBomberStandIn>\n' "$nbomber_stand_in"
  package_folder_settings
  # A registry that does not answer would be waited for in each build: what NuGet has kept has to do.
  [[ -z $registry_silent ]] || printf '    <RestoreSources>%s</RestoreSources>\n' "$BILLING_STATE/packages"
  # Each compiler has its own folder for compiled assemblies.
  [[ -z $crossgen ]] ||
    printf '    <ReadyToRunCompiler>%s</ReadyToRunCompiler>\n' "$crossgen"
    printf '    <ReadyToRunCache>%s/compiled</ReadyToRunCache>\n' "${tools%/*}"
  printf '  </PropertyGroup>\n</Project>\n'
}

# query_limit: the seconds that the query may take, downloads included. Where no registry answers, only packages that
# NuGet has kept can be found.
query_limit() {
  local source limit=60
  have curl || limit=300
  while read -r source && ((limit < 300)); do
    ! curl -sk -o /dev/null --connect-timeout 10 --max-time 60 "$source" || limit=300
  done < <(env -C "$BILLING_ROOT" dotnet nuget list source --format Short | sed -n 's/^E[^ ]* \(http.*\)/\1/p')
  printf '%s' "$limit"
}

registry_silent=

# ask_for_packages FILE: sets nbomber_stand_in and crossgen, and writes them to the file unless no
# registry could be queried.
ask_for_packages() {
  local folder log status=0
  ! is_answered "$1" || return 0
  nbomber_stand_in=true crossgen=''
  if [[ -n $(find "$1.unanswered" -mmin -60 2>/dev/null) ]]; then
    registry_silent=yes
    say "the package registry did not answer within the last hour; rm $1.unanswered to query it again"
    return
  fi
  temporary_folder folder "$BILLING_STATE"
  log="$folder/restore.log"
  write_questions "$folder"
  say "querying the package registry${BILLING_PACKAGES:+ and $BILLING_PACKAGES} ..."
  (cd "$folder" && timeout "$(query_limit)" dotnet restore questions.slnx --disable-build-servers -v minimal) \
    >"$log" 2>&1 9>&- || status=$?
  if ((status)) && { grep -q NU1301 "$log" || ! grep -q 'error NU' "$log"; }; then
    registry_silent=yes
    say "the package registry does not answer ($(first_error "$log" "$status")):" \
      'building with packages that NuGet has kept,' \
      'stand-ins, and no native code'
    : >"$1.unanswered"
  else
    grep -q '/ask.nbomber.csproj : error NU' "$log" || nbomber_stand_in=false
    if grep -q '/ask.crossgen.csproj : error NU' "$log"; then
      say 'programs are compiled at run time: the package registry lacks the ReadyToRun compiler'
    else
      crossgen=$(dotnet msbuild "$folder/ask.crossgen/ask.crossgen.csproj" -getProperty:Crossgen -nodeReuse:false)
    fi
    printf '%s\n%s\n' "$nbomber_stand_in" "$crossgen" >"$1.new"
    mv -- "$1.new" "$1"
  fi
  rm -rf -- "$folder"
}

# write_questions FOLDER: two projects, isolated from the repository's build settings; the prefix of their names keeps
# restore from taking a project for the package. NBomber must have its very version, what it asks for need not; the
# compiler has the version of the SDK's runtime.
write_questions() {
  local version head='<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup>'
  head+='<TargetFramework>net10.0</TargetFramework><NuGetAudit>false</NuGetAudit>'
  version=$(package_version NBomber)
  printf '<Project />\n' | tee "$1/Directory.Build.props" "$1/Directory.Packages.props" >"$1/Directory.Build.targets"
  printf '<Solution><Project Path="%s" /><Project Path="%s" /></Solution>\n' \
    ask.nbomber/ask.nbomber.csproj ask.crossgen/ask.crossgen.csproj \
    >"$1/questions.slnx"
  mkdir -- "$1/ask.nbomber" "$1/ask.crossgen"
  {
    printf '%s\n%s\n' "$head" "$(package_folder_settings)"
    printf '</PropertyGroup>\n<ItemGroup><PackageReference Include="NBomber" Version="[%s]" />' "$version"
    printf '</ItemGroup></Project>\n'
  } >"$1/ask.nbomber/ask.nbomber.csproj"
  {
    printf '%s<RestorePackagesPath>%s/crossgen</RestorePackagesPath>\n' "$head" "$BILLING_CACHE"
    printf '<RestoreAdditionalProjectSources>%s</RestoreAdditionalProjectSources></PropertyGroup>\n' \
      "${BILLING_PACKAGES:-}"
    cat <<'PROJECT'
<ItemGroup><PackageDownload Include="Microsoft.NETCore.App.Crossgen2.$(NETCoreSdkPortableRuntimeIdentifier)"
                            Version="[$(BundledNETCoreAppPackageVersion)]" /></ItemGroup>
<PropertyGroup>
<CrossgenPackage>microsoft.netcore.app.crossgen2.$(NETCoreSdkPortableRuntimeIdentifier)</CrossgenPackage>
<Crossgen>$(RestorePackagesPath)/$(CrossgenPackage)/$(BundledNETCoreAppPackageVersion)/tools/crossgen2</Crossgen>
</PropertyGroup>
</Project>
PROJECT
  } >"$1/ask.crossgen/ask.crossgen.csproj"
}

# package_version ID: as in Directory.Packages.props, the only place for versions.
package_version() {
  local version
  version=$(sed -n "s/.*<PackageVersion Include=\"$1\" Version=\"\([^\"]*\)\".*/\1/p" \
    "$BILLING_ROOT/Directory.Packages.props")
  [[ -n $version ]] || die "Directory.Packages.props names no version of $1"
  printf '%s' "$version"
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
