using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using System.Text.Json.Nodes;
using System.Xml.Linq;
using Billing.Cli.Release;
using Billing.Cli.Release.Archives;
using Billing.LocalStack.Processes;

namespace Billing.DeploymentTests;

/// <summary>The steps of <c>./billing package</c>, on small folders.
/// <c>./billing package --check</c> tests the whole command.</summary>
[UnsupportedOSPlatform("windows")]
public sealed class ReleasePackaging : IDisposable
{
    private static readonly DateTimeOffset Time = DateTimeOffset.FromUnixTimeSeconds(1_700_000_000);

    private readonly string _folder = Directory.CreateTempSubdirectory("billing-release-").FullName;

    [Theory]
    [InlineData("--version: '1.2'", "1.2", null, null)]
    [InlineData("--version: '01.2.3'", "01.2.3", null, null)]
    [InlineData("--version: '1.2.3+build'", "1.2.3+build", null, null)]
    [InlineData("--architectures: 'linux-x86'", null, "linux-x86", null)]
    [InlineData("--architectures: 'linux-x86'", null, "linux-x64,linux-x86", null)]
    [InlineData("--architectures: there are linux-x64, linux-arm64", null, "", null)]
    [InlineData("--output: cannot write to /proc/nowhere", null, null, "/proc/nowhere")]
    [InlineData("--output: the folder is missing", null, null, "")]
    [InlineData("deploy is not empty and is not a release: it has no SHA256SUMS", null, null, "deploy")]
    public void An_invalid_option_is_reported(string message, string? version, string? architectures, string? output)
    {
        var folder = output == "deploy" ? Path.Combine(Repository.Root, output) : output;

        var e = Assert.Throws<StackException>(
            () => ReleaseOptions.Read(Repository.Root, version, architectures, folder));

        Assert.Contains(message, e.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("0.1.0")]
    [InlineData("10.20.30-rc.1.x-y")]
    public void Versions_as_in_SemVer_are_accepted(string version) =>
        Assert.Equal(version, ReleaseOptions.Read(Repository.Root, version, null, _folder).Version);

    [Fact]
    public void A_release_is_of_the_products_version_and_for_all_architectures_unless_told_otherwise()
    {
        var usual = ReleaseOptions.Read(Repository.Root, null, null, _folder);
        var chosen = ReleaseOptions.Read(Repository.Root, null, "linux-x64,linux-arm64,linux-x64", _folder);

        Assert.Equal((ReleaseContract.Version, false), (usual.Version, usual.AreArchitecturesChosen));
        Assert.Equal(["linux-x64", "linux-arm64"], usual.Architectures);
        Assert.True(chosen.AreArchitecturesChosen);
        Assert.Equal(["linux-arm64", "linux-x64"], chosen.Architectures);
    }

    [Fact]
    public async Task Archives_of_the_same_content_have_the_same_bytes()
    {
        Write("one/top/inner/b", "b", UnixFileMode.UserRead | UnixFileMode.UserWrite);
        Write("one/top/a", "a", UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        Write("two/top/a", "a", (UnixFileMode)0b111_101_101);
        Write("two/top/inner/b", "b", (UnixFileMode)0b110_110_100);
        File.SetLastWriteTimeUtc(PathOf("two/top/a"), new DateTime(2001, 1, 1, 0, 0, 0, DateTimeKind.Utc));

        var one = await PackAsync("one");
        Assert.Equal(one, await PackAsync("two"));
        Write("two/top/inner/b", "c");
        Assert.NotEqual(one, await PackAsync("two"));
    }

    [Fact]
    public async Task The_bootstrap_archive_covers_the_others_and_its_own_hash_is_Terraforms()
    {
        Write("root/deploy/bootstrap/install.sh", "#!/bin/sh\n");
        Write("root/deploy/monitoring/prometheus/rules/alerts.yml", "groups: []\n");
        Write("release/billing-proxy-1.2.3-linux-x64.tar.gz", "an archive");
        var release = PathOf("release");

        await new BootstrapArchive(PathOf("root"), "1.2.3", Time).PackAsync(
            Directory.CreateDirectory(PathOf("staging")).FullName, release, TestContext.Current.CancellationToken);

        var unpacked = Directory.CreateDirectory(PathOf("unpacked")).FullName;
        (await ExternalTool.RunAsync("tar", ["-xzf", "billing-bootstrap-1.2.3.tar.gz", "-C", unpacked], release))
            .Succeeded();
        Assert.True(File.Exists(Path.Combine(unpacked, "install.sh")));
        Assert.True(File.Exists(Path.Combine(unpacked, "monitoring/rules/alerts.yml")));
        (await ExternalTool.RunAsync(
            "sha256sum", ["--check", "--strict", Path.Combine(unpacked, "SHA256SUMS")], release)).Succeeded();
        var variables = JsonNode.Parse(File.ReadAllText(Path.Combine(release, "release.auto.tfvars.json")))!;
        Assert.Equal("1.2.3", variables.Text("release_version"));
        Assert.Equal(
            Checksums.Of(Path.Combine(release, "billing-bootstrap-1.2.3.tar.gz")), variables.Text("bootstrap_sha256"));
    }

    [Fact]
    public void A_bill_of_materials_names_each_library_with_version_hash_and_licence()
    {
        Write("published/Some.Program.deps.json", """
            {
              "runtimeTarget": { "name": "net/linux-x64" },
              "targets": { "net/linux-x64": {
                "Some.Program/1.2.3": { "dependencies": {
                  "Some.Library": "4.5.6", "Stand.In": "7.8.9", "runtimepack.Some.Runtime": "10.0.1" } },
                "Some.Library/4.5.6": {}, "Stand.In/7.8.9": {}, "runtimepack.Some.Runtime/10.0.1": {} } },
              "libraries": {
                "Some.Program/1.2.3": { "type": "project" },
                "Some.Library/4.5.6": { "type": "package" }, "Stand.In/7.8.9": { "type": "project" },
                "runtimepack.Some.Runtime/10.0.1": { "type": "runtimepack" } }
            }
            """);
        Write("published/Some.Program.dll", "");
        Write("published/Stand.In.dll", "");
        Write(
            "packages/some.library/4.5.6/some.library.nuspec",
            "<metadata><license type=\"expression\">MIT</license></metadata>");
        Write("packages/some.library/4.5.6/some.library.4.5.6.nupkg.sha512", "AAEC");
        Write(
            "packages/some.runtime/10.0.1/some.runtime.nuspec",
            "<metadata><license type=\"file\">LICENSE</license></metadata>");
        Write("packages/some.runtime/10.0.1/some.runtime.10.0.1.nupkg.sha512", "AAEC");

        var bill = JsonNode.Parse(
            BillOfMaterials.Of(PathOf("published"), "Some.Program", "1.2.3", "linux-x64", PathOf("packages"), Time))!;

        Assert.Equal("CycloneDX", bill.Text("bomFormat"));
        Assert.Equal("2023-11-14T22:13:20Z", bill.Text("metadata.timestamp"));
        Assert.Equal("Some.Program", bill.Text("metadata.component.name"));
        Assert.Equal(3, bill.Items("components").Count());
        Assert.Equal("pkg:nuget/Some.Library@4.5.6", bill.Text("components.0.purl"));
        Assert.Equal("000102", bill.Text("components.0.hashes.0.content"));
        Assert.Equal("MIT", bill.Text("components.0.licenses.0.expression"));
        Assert.Null(bill.Text("components.1.purl"));
        Assert.Equal(128, bill.Text("components.1.hashes.0.content")!.Length);
        Assert.Equal(("Some.Runtime", "10.0.1"), (bill.Text("components.2.name"), bill.Text("components.2.version")));
        Assert.Null(bill.Text("components.2.licenses"));
        Assert.Equal(
            ["pkg:nuget/Some.Library@4.5.6", "pkg:nuget/Stand.In@7.8.9", "pkg:nuget/Some.Runtime@10.0.1"],
            bill.Items("dependencies.0.dependsOn").Select(dependency => dependency!.ToString()));
    }

    [Fact]
    public void A_bill_of_materials_needs_the_packages_that_the_program_was_published_from()
    {
        Write("published/Some.Program.deps.json", """
            {
              "runtimeTarget": { "name": "net" }, "targets": { "net": {} },
              "libraries": { "Some.Library/4.5.6": { "type": "package" } }
            }
            """);

        var e = Assert.Throws<StackException>(
            () => BillOfMaterials.Of(
                PathOf("published"), "Some.Program", "1.2.3", "linux-x64", PathOf("packages"), Time));

        Assert.Contains("packages/some.library/4.5.6", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void No_program_of_a_release_is_made_with_a_project_of_the_laboratory_but_the_client_which_is_one() =>
        Assert.Equal(
            ["client: load/Driver"],
            from program in ReleasedProgram.All
            from project in References(program.Project)
            where project.StartsWith("load/", StringComparison.Ordinal)
            select $"{program.Name}: {Path.GetDirectoryName(project)}");

    [Fact]
    public void A_program_that_was_published_with_a_part_of_the_laboratory_is_not_packed()
    {
        Write("published/Billing.Operator.dll", "");
        var program = ReleasedProgram.All.Single(program => program.Name == "operator");
        program.RefuseLaboratory(Repository.Root, PathOf("published"));

        foreach (var part in (string[])["Billing.Cli", "Billing.Simulation", "Billing.Chaos", "Billing.Driver"])
        {
            Write($"published/{part}.dll", "");
            var e = Assert.Throws<StackException>(
                () => program.RefuseLaboratory(Repository.Root, PathOf("published")));
            Assert.Contains(part, e.Message, StringComparison.Ordinal);
            File.Delete(PathOf($"published/{part}.dll"));
        }
    }

    [Fact]
    public async Task An_archive_names_the_Debian_packages_that_its_programs_load()
    {
        _ = ExternalTool.Need("readelf");
        _ = ExternalTool.Need("dpkg");
        File.Copy("/bin/ls", PathOf("Some.Program"));

        var required = await RequiredPackages.OfAsync(_folder, TestContext.Current.CancellationToken);

        Assert.Contains("libc6", required);
        Assert.Contains("libssl3", required);
    }

    /// <summary>The names are those of librdkafka.redist 2.15.1, for x64 and for arm64.</summary>
    [Theory]
    [InlineData(
        "alpine-librdkafka.so;centos8-librdkafka.so;librdkafka.so;libother.so", "centos8-librdkafka.so;libother.so")]
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
            "dotnet",
            [
                "msbuild", Path.Combine(_folder, "release.proj"),
                "-t:ResolvePackageAssets", "-getItem:NativeCopyLocalItems",
            ])).Succeeded();

        var items = JsonNode.Parse(result.Output)!.Items("Items.NativeCopyLocalItems")
            .Select(item => item.Text("Identity"));
        Assert.Equal(packed.Split(';'), items);
    }

    [Fact]
    public async Task An_architecture_is_packed_if_the_librdkafka_beside_the_program_is_its_own()
    {
        _ = ExternalTool.Need("readelf");
        Directory.CreateDirectory(PathOf("none"));
        Directory.CreateDirectory(PathOf("own"));
        File.Copy("/bin/ls", PathOf("own/centos8-librdkafka.so"));
        var isArm = RuntimeInformation.OSArchitecture == Architecture.Arm64;
        var (own, other) = isArm ? ("linux-arm64", "linux-x64") : ("linux-x64", "linux-arm64");

        Task<bool> HasAsync(string folder, string architecture) =>
            Publishing.HasLibrdkafkaAsync(PathOf(folder), architecture, TestContext.Current.CancellationToken);
        Assert.True(await HasAsync("own", own));
        Assert.False(await HasAsync("own", other));
        Assert.False(await HasAsync("none", own));
    }

    [Fact]
    public void Two_releases_are_the_same_if_they_have_the_same_files_with_the_same_bytes()
    {
        Write("one/a.tar.gz", "a");
        Write("two/a.tar.gz", "a");
        ReleaseCheck.Compare(PathOf("one"), PathOf("two"));

        Write("two/b.tar.gz", "b");
        Assert.Throws<StackException>(() => ReleaseCheck.Compare(PathOf("one"), PathOf("two")));
        Write("one/b.tar.gz", "c");
        Assert.Throws<StackException>(() => ReleaseCheck.Compare(PathOf("one"), PathOf("two")));
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

    // The project, and all that it references, by their paths from the root.
    private static HashSet<string> References(string project)
    {
        var (found, open) = (new HashSet<string>(StringComparer.Ordinal) { project }, new Queue<string>([project]));
        while (open.TryDequeue(out var next))
        {
            foreach (var reference in XDocument.Load(Path.Combine(Repository.Root, next))
                .Descendants("ProjectReference"))
            {
                var path = Path.Combine(
                    Repository.Root, Path.GetDirectoryName(next)!, reference.Attribute("Include")!.Value);
                var referenced = Path.GetRelativePath(Repository.Root, Path.GetFullPath(path));
                if (found.Add(referenced))
                {
                    open.Enqueue(referenced);
                }
            }
        }
        return found;
    }

    private string PathOf(string file) => Path.Combine(_folder, file);

    private void Write(string file, string text, UnixFileMode? mode = null)
    {
        var path = PathOf(file);
        Directory.CreateDirectory(Path.GetDirectoryName(path)!);
        File.WriteAllText(path, text);
        if (mode is not null)
        {
            File.SetUnixFileMode(path, mode.Value);
        }
    }

    private async Task<string> PackAsync(string parent)
    {
        var archive = PathOf("packed.tar.gz");
        await Archive.PackAsync(PathOf(parent), "top", archive, Time, TestContext.Current.CancellationToken);
        return Checksums.Of(archive);
    }
}
