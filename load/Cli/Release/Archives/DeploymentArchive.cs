using System.Text.Json.Nodes;
using System.Text.RegularExpressions;

namespace Billing.Cli.Release.Archives;

/// <summary>The archive of what a release is deployed with: Terraform's modules, Containerfiles and Compose files, the
/// configuration of monitoring. Unpacked in the release's folder, all of it finds the release there.</summary>
internal sealed partial class DeploymentArchive(string root, string version, DateTimeOffset time)
{
    private const string Top = "deploy";

    // Hidden files are left out, too. Beside what is listed there may be secrets and states of deployments.
    private static readonly (string Folder, string Pattern, EnumerationOptions Depth)[] Content =
    [
        ("", "README.md", new()),
        ("containers", "*", new()),
        ("monitoring", "*", new() { RecurseSubdirectories = true }),
        .. from pattern in (string[])["*.tf", "*.tftpl", "*.sh", "*.md"]
           select ("terraform", pattern, new EnumerationOptions { RecurseSubdirectories = true }),
    ];

    private readonly string _source = Path.Combine(root, Top);

    /// <summary>Packs it. The bootstrap archive's hash for Terraform has to be there.</summary>
    public async Task PackAsync(string staging, string release, CancellationToken cancellationToken)
    {
        foreach (var file in Files())
        {
            var copy = Path.Combine(staging, Top, Path.GetRelativePath(_source, file));
            Directory.CreateDirectory(Path.GetDirectoryName(copy)!);
            File.Copy(file, copy);
        }
        await NameImagesAsync(Path.Combine(staging, Top, "containers"), cancellationToken);
        await NameReleaseAsync(release, Path.Combine(staging, Top, "terraform"), cancellationToken);
        var archive = Path.Combine(release, $"billing-deploy-{version}.tar.gz");
        await Archive.PackAsync(staging, Top, archive, time, cancellationToken);
    }

    private IEnumerable<string> Files() => Content.SelectMany(
        content => Directory.EnumerateFiles(Path.Combine(_source, content.Folder), content.Pattern, content.Depth));

    private async Task NameImagesAsync(string containers, CancellationToken cancellationToken)
    {
        foreach (var file in Directory.EnumerateFiles(containers, "*.yaml"))
        {
            var text = await File.ReadAllTextAsync(file, cancellationToken);
            await File.WriteAllTextAsync(file, ImageVersion().Replace(text, version), cancellationToken);
        }
    }

    // Terraform reads a file of this name by itself.
    private static async Task NameReleaseAsync(string release, string terraform, CancellationToken cancellationToken)
    {
        const string name = BootstrapArchive.Variables;
        var variables = JsonNode.Parse(await File.ReadAllTextAsync(Path.Combine(release, name), cancellationToken))!;
        variables["release_folder"] = "../..";
        await File.WriteAllTextAsync(Path.Combine(terraform, name), ReleaseJson.Text(variables), cancellationToken);
    }

    [GeneratedRegex("(?<=image: billing-[a-z]+:).*")]
    private static partial Regex ImageVersion();
}
