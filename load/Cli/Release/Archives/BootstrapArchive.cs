using System.Text.Json.Nodes;
using Billing.Cli.Setup;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Release.Archives;

/// <summary>The archive of the scripts that install a machine. It has the checksums of the other archives, so that its
/// own hash in a machine's user data covers all of them.</summary>
internal sealed class BootstrapArchive(string root, string version, DateTimeOffset time)
{
    /// <summary>The file of a release with what Terraform has to know of it.</summary>
    public const string Variables = "release.auto.tfvars.json";

    /// <summary>Packs the scripts, and writes their hash for Terraform.</summary>
    public async Task PackAsync(string staging, string release, CancellationToken cancellationToken)
    {
        var top = Directory.CreateDirectory(Path.Combine(staging, "bootstrap")).FullName;
        var scripts = Path.Combine(root, "deploy", "bootstrap");
        if (Directory.Exists(scripts))
        {
            await new Tool("cp").RunAsync(["-r", "--", scripts + "/.", top + "/"], cancellationToken);
            // For the monitoring host: the same rules as everywhere else.
            var monitoring = Directory.CreateDirectory(Path.Combine(top, "monitoring")).FullName;
            await new Tool("cp").RunAsync(
                ["-r", "--", Path.Combine(root, "deploy/monitoring/prometheus/rules"), monitoring + "/"],
                cancellationToken);
        }
        else
        {
            Messages.Say("there is no deploy/bootstrap: its archive contains checksums only");
        }
        await File.WriteAllTextAsync(
            Path.Combine(top, Checksums.FileName), Checksums.Of(release, "*.tar.gz"), cancellationToken);
        var archive = Path.Combine(release, $"billing-bootstrap-{version}.tar.gz");
        await Archive.PackAsync(top, ".", archive, time, cancellationToken);
        var variables = new JsonObject { ["release_version"] = version, ["bootstrap_sha256"] = Checksums.Of(archive) };
        await File.WriteAllTextAsync(Path.Combine(release, Variables), ReleaseJson.Text(variables), cancellationToken);
    }
}
