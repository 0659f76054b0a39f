# shellcheck shell=bash
# Makes the NuGet packages of the SDK, and tests them with a program that uses nothing else of the platform.

sdk_projects=(Contracts Client)

# pack_sdk FOLDER: packages and symbols of the release that package_version_wanted names, as of package_epoch.
pack_sdk() {
  local project log="$BILLING_STATE/sdk.log"
  : >"$log"
  for project in "${sdk_projects[@]}"; do
    # In its own folder: assemblies of ordinary builds contain paths of this machine.
    with_progress "packing Billing.$project" "$log" env -C "$BILLING_ROOT" SOURCE_DATE_EPOCH="$package_epoch" \
      dotnet pack "src/$project/Billing.$project.csproj" -c Release --nologo -v quiet --disable-build-servers -o "$1" \
      -p:PackageAnswer="$package_answer" -p:ReleaseVersion="$package_version_wanted" \
      -p:ContinuousIntegrationBuild=true -p:ArtifactsPath="$BILLING_ROOT/artifacts/packing" 9>&- ||
      die "packing Billing.$project failed; the output is in $log"
  done
}

# try_sdk FOLDER: checks that a program needs only the package there and the packages that restore kept for it.
try_sdk() {
  local folder kept log="$BILLING_STATE/sdk.log"
  temporary_folder folder "$BILLING_STATE"
  kept=$(jq -r .project.restore.packagesPath "$BILLING_ROOT/artifacts/packing/obj/Billing.Client/project.assets.json")
  printf '<Project />\n' | tee "$folder/Directory.Build.props" "$folder/Directory.Packages.props" >"$folder/Directory.Build.targets"
  {
    printf '<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><TargetFramework>net10.0</TargetFramework><OutputType>Exe</OutputType>\n'
    printf '<ImplicitUsings>enable</ImplicitUsings><UseAppHost>false</UseAppHost><NuGetAudit>false</NuGetAudit>\n'
    printf '<RestoreSources>%s</RestoreSources><RestoreFallbackFolders>%s</RestoreFallbackFolders>\n' "$1" "$kept"
    printf '<RestorePackagesPath>%s/packages</RestorePackagesPath></PropertyGroup><ItemGroup>\n' "$folder"
    printf '<PackageReference Include="Billing.Client" Version="%s" />\n' "$package_version_wanted"
    printf '</ItemGroup></Project>\n'
  } >"$folder/try.csproj"
  cat >"$folder/Program.cs" <<'PROGRAM'
using Billing.Client;
using Billing.Client.Testing;
using Billing.V1;

var payment = new Payment(new CardAccount(PaymentType.Visa, "acct-42"), new Amount(12.34m, "USD"));
var result = await new InMemoryBilling().PayAsync(payment);
using var client = new BillingClient(new BillingClientOptions { Proxies = { "http://127.0.0.1:1" }, RetriesMax = 0 });
Console.WriteLine($"{result.GetType().Name} {(await client.PayAsync(payment)).GetType().Name}");
PROGRAM
  with_progress 'testing Billing.Client' "$log" env -C "$folder" dotnet build try.csproj -o "$folder/out" --nologo -v quiet \
    --disable-build-servers -p:PackageAnswer="$package_answer" 9>&- ||
    die "a program cannot be built with only Billing.Client; the output is in $log"
  [[ $(dotnet "$folder/out/try.dll") == 'Accepted Unknown' ]] || die 'a program that uses only Billing.Client did not print the expected results'
}
