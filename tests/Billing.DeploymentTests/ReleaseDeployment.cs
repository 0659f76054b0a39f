using System.Text.Json.Nodes;
using Billing.Cli.Release.Archives;

namespace Billing.DeploymentTests;

/// <summary>The archive of what a release is deployed with.</summary>
public sealed class ReleaseDeployment : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("billing-deploy-").FullName;

    private string Release => Path.Combine(_folder, "release");
    private string Unpacked => Path.Combine(Release, "deploy");

    public ReleaseDeployment() =>
        Write("release/release.auto.tfvars.json", """{ "release_version": "2.3.4", "bootstrap_sha256": "ab" }""");

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public async Task It_has_everything_that_deploys_but_the_bootstrap_which_has_an_archive_of_its_own()
    {
        var listed = await ExternalTool.RunAsync(ExternalTool.Need("git"), ["ls-files", "deploy"]);
        Assert.SkipUnless(listed.ExitCode == 0, "these sources are no clone");

        await UnpackAsync(Repository.Root);

        var expected = listed.Output.TrimEnd().Split('\n').Where(IsDeployed)
            .Append("deploy/terraform/release.auto.tfvars.json");
        Assert.Equal(expected.Order(StringComparer.Ordinal), Files());
    }

    [Fact]
    public async Task Secrets_and_states_beside_the_sources_are_left_out()
    {
        string[] own =
        [
            "containers/credentials/kafka-admin", "containers/.env",
            "monitoring/.password", "terraform/terraform.tfvars",
            "terraform/terraform.tfstate", "terraform/plan.tfplan", "terraform/.terraform/modules/other.tf",
        ];
        foreach (var file in own.Append("README.md").Append("containers/compose.yaml").Append("terraform/main.tf"))
        {
            Write("root/deploy/" + file, "");
        }

        await UnpackAsync(Path.Combine(_folder, "root"));

        Assert.Equal(
            [
                "deploy/README.md", "deploy/containers/compose.yaml", "deploy/terraform/main.tf",
                "deploy/terraform/release.auto.tfvars.json",
            ],
            Files());
    }

    [Fact]
    public async Task Terraform_and_Compose_take_the_release_that_it_was_unpacked_in()
    {
        await UnpackAsync(Repository.Root);

        var variables = JsonNode.Parse(File.ReadAllText(Path.Combine(Unpacked, "terraform/release.auto.tfvars.json")))!;
        Assert.Equal(
            ("2.3.4", "ab", "../.."),
            (variables.Text("release_version"), variables.Text("bootstrap_sha256"), variables.Text("release_folder")));
        string[] composed = ["compose.yaml", "webhooks.yaml"];
        var images = composed.SelectMany(file => File.ReadLines(Path.Combine(Unpacked, "containers", file)))
            .Where(line => line.TrimStart().StartsWith("image:", StringComparison.Ordinal)).ToList();
        Assert.Equal(6, images.Count);
        Assert.All(images, image => Assert.EndsWith(":2.3.4", image, StringComparison.Ordinal));
    }

    [Fact]
    public async Task Images_are_built_from_the_release_that_it_was_unpacked_in()
    {
        await UnpackAsync(Repository.Root);
        Write("release/SHA256SUMS", $"{new string('0', 64)}  billing-proxy.tar.gz\n");
        Write("release/billing-proxy.tar.gz", "something else");

        var result = await ExternalTool.RunAsync("/bin/bash", [Path.Combine(Unpacked, "containers/build.sh")], _folder);

        Assert.Equal(1, result.ExitCode);
        Assert.Contains($"{Release} does not match its SHA256SUMS", result.Errors, StringComparison.Ordinal);
    }

    // The others are for tests and for git.
    private static bool IsDeployed(string file) =>
        file is not ("deploy/schemas.sh" or "deploy/terraform/topology.json")
        && !file.StartsWith("deploy/bootstrap/", StringComparison.Ordinal)
        && !file.Contains("/schema/", StringComparison.Ordinal)
        && !file.Contains("/.", StringComparison.Ordinal);

    private IEnumerable<string> Files() => Directory.EnumerateFiles(Unpacked, "*", SearchOption.AllDirectories)
        .Select(file => Path.GetRelativePath(Release, file)).Order(StringComparer.Ordinal);

    private async Task UnpackAsync(string root)
    {
        var staging = Directory.CreateDirectory(Path.Combine(_folder, "staging")).FullName;
        await new DeploymentArchive(root, "2.3.4", DateTimeOffset.FromUnixTimeSeconds(1_700_000_000))
            .PackAsync(staging, Release, TestContext.Current.CancellationToken);
        (await ExternalTool.RunAsync("tar", ["-xzf", "billing-deploy-2.3.4.tar.gz"], Release)).Succeeded();
    }

    private void Write(string file, string text)
    {
        var path = Path.Combine(_folder, file);
        Directory.CreateDirectory(Path.GetDirectoryName(path)!);
        File.WriteAllText(path, text);
    }
}
