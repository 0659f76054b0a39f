using System.Text.Json.Nodes;
using Billing.Cli.Release;
using Billing.Cli.Release.Archives;
using Billing.LocalStack.Processes;

namespace Billing.DeploymentTests;

/// <summary>What a release says about itself: its provenance, and the checksums that cover it.</summary>
public sealed class ReleaseProvenance : IDisposable
{
    private const string Name = "billing-1.2.3.provenance.json";
    private const string Commit = "0123456789abcdef0123456789abcdef01234567";

    private static readonly Sources Clean = new(DateTimeOffset.FromUnixTimeSeconds(1_700_000_000), Commit, Changes: "");

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("billing-provenance-");
    private readonly DirectoryInfo _kafka = Directory.CreateTempSubdirectory("billing-kafka-");

    public ReleaseProvenance()
    {
        Write(_folder, "billing-proxy.tar.gz", "an archive");
        Write(_folder, "Billing.Client.1.2.3.nupkg", "a package");
        Write(_folder, "release.auto.tfvars.json", "{}");
        Write(_kafka.CreateSubdirectory("libs"), "kafka-server.jar", "a jar");
        Write(_kafka.CreateSubdirectory("libs"), "another.jar", "another jar");
    }

    public void Dispose()
    {
        _folder.Delete(recursive: true);
        _kafka.Delete(recursive: true);
    }

    [Fact]
    public async Task Every_other_file_of_a_release_is_a_subject_with_its_hash()
    {
        var provenance = await ReadAsync(Clean);

        Assert.Equal("https://in-toto.io/Statement/v1", provenance.Text("_type"));
        Assert.Equal(
            ["Billing.Client.1.2.3.nupkg", "billing-proxy.tar.gz", "release.auto.tfvars.json"],
            provenance.Items("subject").Select(subject => subject.Text("name")));
        foreach (var subject in provenance.Items("subject"))
        {
            var file = Path.Combine(_folder.FullName, subject.Text("name")!);
            var sum = (await ExternalTool.RunAsync("sha256sum", ["--", file])).Succeeded().Output.Split(' ')[0];
            Assert.Equal(sum, subject.Text("digest.sha256"));
        }
    }

    [Fact]
    public async Task A_release_says_how_and_of_what_it_was_made()
    {
        var provenance = await ReadAsync(Clean);

        Assert.Equal("https://slsa.dev/provenance/v1", provenance.Text("predicateType"));
        var build = provenance.At("predicate.buildDefinition");
        Assert.Contains(
            Repository.Lines("docs/operations/upgrade.md"),
            line => line.Contains($"`{build.Text("buildType")}`", StringComparison.Ordinal));
        Assert.Equal(
            """{"version":"1.2.3","architectures":["linux-x64"],"SOURCE_DATE_EPOCH":"1700000000"}""",
            build.At("externalParameters")!.ToJsonString());
        Assert.Equal(Commit, build.Text("resolvedDependencies.0.digest.gitCommit"));
        Assert.Null(build.At("resolvedDependencies.0.annotations"));
        Assert.Equal("pkg:generic/dotnet-sdk@10.0.100", build.Text("resolvedDependencies.1.uri"));
        // The command of in-toto's definition.
        const string command =
            "find . -type f | cut -c3- | LC_ALL=C sort | xargs -r sha256sum | sha256sum | cut -f1 -d' '";
        var jars = await ExternalTool.RunAsync("bash", ["-c", command], Path.Combine(_kafka.FullName, "libs"));
        Assert.Equal(jars.Succeeded().Output.Trim(), build.Text("resolvedDependencies.2.digest.dirHash"));
        Assert.NotNull(provenance.Text("predicate.runDetails.builder.id"));
    }

    [Fact]
    public async Task A_release_of_sources_that_are_not_committed_says_so()
    {
        var provenance = await ReadAsync(Clean with { Changes = " M src/Proxy/Program.cs" });

        Assert.Equal("true", provenance.Text("predicate.buildDefinition.resolvedDependencies.0.annotations.modified"));
    }

    [Fact]
    public async Task A_release_made_outside_of_a_clone_names_no_commit()
    {
        var provenance = await ReadAsync(Clean with { Commit = null });

        Assert.DoesNotContain(
            provenance.Items("predicate.buildDefinition.resolvedDependencies"),
            dependency => dependency.At("digest.gitCommit") is not null);
    }

    [Fact]
    public async Task The_same_release_has_the_same_provenance()
    {
        _ = await ReadAsync(Clean);
        var first = File.ReadAllText(Path.Combine(_folder.FullName, Name));
        await Checksums.WriteAsync(_folder.FullName, TestContext.Current.CancellationToken);

        _ = await ReadAsync(Clean);

        Assert.Equal(first, File.ReadAllText(Path.Combine(_folder.FullName, Name)));
    }

    [Theory]
    [InlineData("billing-proxy.tar.gz")]
    [InlineData("release.auto.tfvars.json")]
    [InlineData(Name)]
    public async Task A_release_with_an_altered_file_does_not_match_its_checksums(string altered)
    {
        _ = await ReadAsync(Clean);
        await Checksums.WriteAsync(_folder.FullName, TestContext.Current.CancellationToken);
        // What is signed later is written again.
        await Checksums.WriteAsync(_folder.FullName, TestContext.Current.CancellationToken);
        (await CheckAsync()).Succeeded();

        Write(_folder, altered, "something else");

        var check = await CheckAsync();
        Assert.Equal(1, check.ExitCode);
        Assert.Contains($"{altered}: FAILED", check.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_sources_of_a_release_are_the_commit_and_what_was_changed_since()
    {
        var root = Path.Combine(_folder.FullName, "clone");
        foreach (var folder in (string[])["src", "load", "deploy", "eng"])
        {
            Write(Directory.CreateDirectory(Path.Combine(root, folder)), ".gitignore", "*");
        }
        Assert.Null((await SourcesAsync()).Commit);
        await GitAsync("init", "-q");
        await GitAsync("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first");

        var committed = await SourcesAsync();
        Write(new DirectoryInfo(root), "new", "");
        var changed = await SourcesAsync();

        Assert.Equal((await GitAsync("rev-parse", "HEAD")).Output.Trim(), committed.Commit);
        Assert.Equal(("", "?? new"), (committed.Changes, changed.Changes));
        ReleaseCheck.RequireCommitted(committed);
        var e = Assert.Throws<StackException>(() => ReleaseCheck.RequireCommitted(changed));
        Assert.Contains("?? new", e.Message, StringComparison.Ordinal);

        async Task<ToolResult> GitAsync(params string[] arguments) =>
            (await ExternalTool.RunAsync("git", ["-C", root, .. arguments])).Succeeded();

        Task<Sources> SourcesAsync() => Sources.ReadAsync(root, TestContext.Current.CancellationToken);
    }

    private static void Write(DirectoryInfo folder, string file, string text) =>
        File.WriteAllText(Path.Combine(folder.FullName, file), text);

    private Task<ToolResult> CheckAsync() =>
        ExternalTool.RunAsync("sha256sum", ["--check", "--strict", Checksums.FileName], _folder.FullName);

    private async Task<JsonNode> ReadAsync(Sources sources)
    {
        var options = new ReleaseOptions
        {
            Version = "1.2.3",
            Architectures = ["linux-x64"],
            AreArchitecturesChosen = true,
            Output = _folder.FullName,
        };
        await new Provenance(options, sources, "10.0.100", _kafka.FullName)
            .WriteAsync(_folder.FullName, TestContext.Current.CancellationToken);
        return JsonNode.Parse(File.ReadAllText(Path.Combine(_folder.FullName, Name)))!;
    }
}
