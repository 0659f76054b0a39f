# shellcheck shell=bash
# The compiler that compiles assemblies to native code before programs run (eng/ReadyToRun.targets): a package with the same
# version as the SDK's runtime, for this machine.

# decide_precompilation: sets crossgen to the compiler's file, or to nothing if the registry lacks it. The registry is queried
# once, and again when the SDK or the folder of BILLING_PACKAGES changes.
decide_precompilation() {
  local answer
  check_package_folder
  mkdir -p -- "$BILLING_STATE/packages"
  answer="$BILLING_STATE/packages/crossgen-$({ echo "$BILLING_SDK" "$BILLING_CACHE" && package_folder_content; } | sha256sum | cut -c 1-16)"
  crossgen=$(cat -- "$answer" 2>/dev/null || echo unknown)
  # A cache may have been emptied since.
  [[ -z $crossgen || -x $crossgen ]] || locked "$BILLING_CACHE/crossgen.lock" ask_for_crossgen "$answer"
}

# The properties for eng/ReadyToRun.targets. Each compiler has its own folder for compiled assemblies.
precompilation_settings() {
  local tools=${crossgen%/*}
  [[ -z $crossgen ]] || {
    printf '    <ReadyToRunCompiler>%s</ReadyToRunCompiler>\n' "$crossgen"
    printf '    <ReadyToRunCache>%s/compiled</ReadyToRunCache>\n' "${tools%/*}"
  }
}

# ask_for_crossgen FILE: sets crossgen, and writes it to the file unless the registry could not be queried.
ask_for_crossgen() {
  local folder log status=0 why='programs are compiled at run time'
  if is_unanswered "$1"; then
    crossgen=
    return
  fi
  temporary_folder folder "$BILLING_STATE"
  log="$folder/restore.log"
  write_crossgen_question "$folder"
  say 'querying the package registry for the ReadyToRun compiler ...'
  timeout "$(query_limit)" dotnet msbuild "$folder/ask.csproj" -restore -t:WriteAnswer -nodeReuse:false -nologo -v:minimal >"$log" 2>&1 9>&- || status=$?
  crossgen=$(cat -- "$folder/answer" 2>/dev/null || true)
  if [[ -n $crossgen && -x $crossgen ]]; then
    echo "$crossgen" >"$1.new"
    mv -- "$1.new" "$1"
  elif crossgen= && grep -qE 'NU110[123]' "$log" && ! grep -q NU1301 "$log"; then
    say "$why: the registry has no $(absent_packages "$log")"
    : >"$1"
  else
    say "$why: could not query the package registry for the ReadyToRun compiler ($(first_error "$log" "$status"))"
    : >"$1.unanswered"
  fi
  rm -rf -- "$folder"
}

# An empty project: restoring it fetches the package, and its only target writes the path of the compiler.
write_crossgen_question() {
  printf '<Project />\n' | tee "$1/Directory.Build.props" "$1/Directory.Packages.props" >"$1/Directory.Build.targets"
  cat >"$1/ask.csproj" <<PROJECT
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <TargetFramework>net10.0</TargetFramework>
    <NuGetAudit>false</NuGetAudit>
    <RestorePackagesPath>$BILLING_CACHE/crossgen</RestorePackagesPath>
    ${BILLING_PACKAGES:+<RestoreAdditionalProjectSources>$BILLING_PACKAGES</RestoreAdditionalProjectSources>}
  </PropertyGroup>
  <ItemGroup>
    <PackageDownload Include="Microsoft.NETCore.App.Crossgen2.\$(NETCoreSdkPortableRuntimeIdentifier)"
                     Version="[\$(BundledNETCoreAppPackageVersion)]" />
  </ItemGroup>
  <Target Name="WriteAnswer">
    <PropertyGroup>
      <Crossgen>microsoft.netcore.app.crossgen2.\$(NETCoreSdkPortableRuntimeIdentifier)/\$(BundledNETCoreAppPackageVersion)/tools/crossgen2</Crossgen>
    </PropertyGroup>
    <WriteLinesToFile File="answer" Lines="\$(RestorePackagesPath)/\$(Crossgen)" Overwrite="true" />
  </Target>
</Project>
PROJECT
}
