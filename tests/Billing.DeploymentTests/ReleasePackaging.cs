using System.Text.Json.Nodes;

namespace Billing.DeploymentTests;

/// <summary>The steps of <c>./billing package</c>, on small folders. <c>./billing package --check</c> tests the whole command.
/// </summary>
public sealed class ReleasePackaging : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("billing-release-").FullName;

    [Theory]
    [InlineData("--version 1.2", "--version: '1.2'")]
    [InlineData("--version 01.2.3", "--version: '01.2.3'")]
    [InlineData("--version 1.2.3+build", "--version: '1.2.3+build'")]
    [InlineData("--version", "--version needs a value: <V>")]
    [InlineData("--architectures linux-x86", "--architectures: 'linux-x86'")]
    [InlineData("--architectures=", "--architectures: there are linux-x64, linux-arm64")]
    [InlineData("--output /proc/nowhere", "--output: cannot write to /proc/nowhere")]
    [InlineData("--output deploy", "--output: ")]
    [InlineData("--outptu here", "./billing package has no option --outptu; it has --architectures,")]
    public async Task An_invalid_option_is_reported_before_anything_is_done(string flags, string message)
    {
        var result = await ExternalTool.RunAsync("/bin/bash", ["billing", "package", .. flags.Split(' ')]);

        Assert.Equal(1, result.ExitCode);
        Assert.Contains($"billing: {message}", result.Errors, StringComparison.Ordinal);
        Assert.Single(result.Errors.Trim().Split('\n'));
    }

    [Theory]
    [InlineData("0.1.0")]
    [InlineData("10.20.30-rc.1.x-y")]
    public async Task Versions_as_in_SemVer_are_accepted(string version) => (await BashAsync($"check_version {version}")).Succeeded();

    [Fact]
    public async Task Archives_of_the_same_content_have_the_same_bytes()
    {
        var script = """
            package_epoch=1700000000
            cd "$FOLDER" && mkdir -p one/top/inner two/top/inner
            (umask 077; echo b >one/top/inner/b; echo a >one/top/a; chmod u+x one/top/a)
            (umask 002; echo a >two/top/a; echo b >two/top/inner/b; chmod a+x two/top/a; touch -d 2001-01-01 two/top/a)
            archive_of one top one.tar.gz; archive_of two top two.tar.gz
            cmp one.tar.gz two.tar.gz
            echo c >two/top/inner/b; archive_of two top two.tar.gz
            ! cmp -s one.tar.gz two.tar.gz
            """;

        (await BashAsync(script)).Succeeded();
    }

    [Fact]
    public async Task The_bootstrap_archive_covers_the_others_and_its_own_hash_is_Terraforms()
    {
        _ = ExternalTool.Need("jq");
        Write("root/deploy/bootstrap/install.sh", "#!/bin/sh\n");
        Write("release/billing-proxy-1.2.3-linux-x64.tar.gz", "an archive");
        var script = """
            package_epoch=1700000000 package_version_wanted=1.2.3 BILLING_ROOT="$FOLDER/root"
            mkdir "$FOLDER/staging" "$FOLDER/unpacked"
            package_bootstrap "$FOLDER/staging" "$FOLDER/release"
            cd "$FOLDER/release"
            tar -xzf billing-bootstrap-1.2.3.tar.gz -C "$FOLDER/unpacked"
            test -f "$FOLDER/unpacked/install.sh"
            sha256sum --check --strict "$FOLDER/unpacked/SHA256SUMS"
            grep -q "\"release_version\": \"1.2.3\"" release.auto.tfvars.json
            grep -q "\"bootstrap_sha256\": \"$(sha256sum <billing-bootstrap-1.2.3.tar.gz | cut -d ' ' -f 1)\"" release.auto.tfvars.json
            """;

        (await BashAsync(script)).Succeeded();
    }

    [Fact]
    public async Task A_bill_of_materials_names_each_library_with_version_hash_and_licence()
    {
        _ = ExternalTool.Need("jq");
        Write("published/Some.Program.deps.json", """
            {
              "runtimeTarget": { "name": "net/linux-x64" },
              "targets": { "net/linux-x64": {
                "Some.Program/1.2.3": { "dependencies": { "Some.Library": "4.5.6", "Stand.In": "7.8.9" } },
                "Some.Library/4.5.6": {}, "Stand.In/7.8.9": {} } },
              "libraries": {
                "Some.Program/1.2.3": { "type": "project" },
                "Some.Library/4.5.6": { "type": "package" }, "Stand.In/7.8.9": { "type": "project" } }
            }
            """);
        Write("published/Some.Program.dll", "");
        Write("published/Stand.In.dll", "");
        Write("packages/some.library/4.5.6/some.library.nuspec", "<metadata><license type=\"expression\">MIT</license></metadata>");
        Write("packages/some.library/4.5.6/some.library.4.5.6.nupkg.sha512", "AAEC");

        var bill = JsonNode.Parse((await BashAsync(
            """write_sbom "$FOLDER/published" Some.Program 1.2.3 linux-x64 "$FOLDER/packages" 1700000000""")).Succeeded().Output);

        Assert.Equal("CycloneDX", bill.Text("bomFormat"));
        Assert.Equal("2023-11-14T22:13:20Z", bill.Text("metadata.timestamp"));
        Assert.Equal("Some.Program", bill.Text("metadata.component.name"));
        Assert.Equal(2, bill.Items("components").Count());
        Assert.Equal("pkg:nuget/Some.Library@4.5.6", bill.Text("components.0.purl"));
        Assert.Equal("000102", bill.Text("components.0.hashes.0.content"));
        Assert.Equal("MIT", bill.Text("components.0.licenses.0.expression"));
        Assert.Null(bill.Text("components.1.purl"));
        Assert.Equal(128, bill.Text("components.1.hashes.0.content")!.Length);
        Assert.Equal(
            ["pkg:nuget/Some.Library@4.5.6", "pkg:nuget/Stand.In@7.8.9"],
            bill.Items("dependencies.0.dependsOn").Select(dependency => dependency!.ToString()));
    }

    [Fact]
    public async Task An_archive_names_the_Debian_packages_that_its_programs_load()
    {
        _ = ExternalTool.Need("readelf");
        _ = ExternalTool.Need("dpkg");

        var required = (await BashAsync("""cp /bin/ls "$FOLDER/Some.Program" && required_packages "$FOLDER" """)).Succeeded().Output;

        Assert.Contains("libc6\n", required, StringComparison.Ordinal);
        Assert.Contains("libssl3\n", required, StringComparison.Ordinal);
    }

    /// <summary>The names are those of librdkafka.redist 2.15.1, for x64 and for arm64.</summary>
    [Theory]
    [InlineData("alpine-librdkafka.so;centos8-librdkafka.so;librdkafka.so;libother.so", "centos8-librdkafka.so;libother.so")]
    [InlineData("alpine-librdkafka.so;librdkafka.so", "librdkafka.so")]
    public async Task A_release_contains_only_the_librdkafka_that_Debian_loads(string builds, string packed)
    {
        Write("release.proj", $"""
            <Project>
              <Target Name="ResolvePackageAssets">
                <ItemGroup><NativeCopyLocalItems Include="{builds}" /></ItemGroup>
              </Target>
              <Import Project="{Repository.Root}/eng/Release.targets" />
            </Project>
            """);

        var result = (await ExternalTool.RunAsync(
            "dotnet", ["msbuild", Path.Combine(_folder, "release.proj"), "-t:ResolvePackageAssets", "-getItem:NativeCopyLocalItems"])).Succeeded();

        var items = JsonNode.Parse(result.Output)!.Items("Items.NativeCopyLocalItems").Select(item => item.Text("Identity"));
        Assert.Equal(packed.Split(';'), items);
    }

    [Fact]
    public async Task An_architecture_is_packed_if_the_librdkafka_beside_the_program_is_its_own()
    {
        _ = ExternalTool.Need("readelf");
        var script = """
            mkdir "$FOLDER/none" "$FOLDER/own" && cp /bin/ls "$FOLDER/own/centos8-librdkafka.so"
            own=$([[ $(uname -m) == x86_64 ]] && echo linux-x64 || echo linux-arm64)
            other=$([[ $own == linux-x64 ]] && echo linux-arm64 || echo linux-x64)
            has_librdkafka "$FOLDER/own" "$own"; ! has_librdkafka "$FOLDER/own" "$other"; ! has_librdkafka "$FOLDER/none" "$own"
            """;

        (await BashAsync(script)).Succeeded();
    }

    [Fact]
    public async Task No_image_is_built_from_an_archive_with_a_wrong_checksum()
    {
        Write("SHA256SUMS", $"{new string('0', 64)}  billing-proxy.tar.gz\n");
        Write("billing-proxy.tar.gz", "something else");

        var result = await ExternalTool.RunAsync("/bin/bash", ["deploy/containers/build.sh", "--release", _folder]);

        Assert.Equal(1, result.ExitCode);
        Assert.Contains("does not match its SHA256SUMS", result.Errors, StringComparison.Ordinal);
    }

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    private void Write(string file, string text)
    {
        var path = Path.Combine(_folder, file);
        Directory.CreateDirectory(Path.GetDirectoryName(path)!);
        File.WriteAllText(path, text);
    }

    // The functions of eng/, as in ./billing.
    private Task<ToolResult> BashAsync(string script) => ExternalTool.RunAsync(
        "/bin/bash",
        ["-euo", "pipefail", "-c", $"for file in common cache needs packages sbom package; do . eng/$file.sh; done\n{script}"],
        environment: new Dictionary<string, string> { ["FOLDER"] = _folder, ["BILLING_ROOT"] = Repository.Root });
}
