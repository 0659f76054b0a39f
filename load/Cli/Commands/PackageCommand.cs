using System.CommandLine;
using Billing.Cli.Arguments;
using Billing.Cli.Release;
using Billing.Cli.Setup;

namespace Billing.Cli.Commands;

/// <summary><c>./billing package</c>.</summary>
internal static class PackageCommand
{
    public static Command Create()
    {
        var version = Flags.Text("--version", "Version of the release (SemVer); by default Version in Directory.Build.props", "V");
        var architectures = Flags.Text("--architectures", "linux-x64, linux-arm64 or both, separated by a comma; by default those that can be built here", "LIST");
        var output = Flags.Text("--output", "Folder of the release, by default artifacts/release/V; an earlier release in it is replaced", "FOLDER");
        var check = new Option<bool>("--check") { Description = "Package the release again, from a clone in another folder, and compare the bytes" };
        var command = new Command("package", "Creates the archives that machines and images are installed from, and the NuGet packages of the SDK.")
        {
            version, architectures, output, check,
        };
        return command.Does(async (parsed, cancellationToken) =>
        {
            var workspace = Workspace.FromEnvironment();
            var options = ReleaseOptions.Read(
                workspace.Root, parsed.GetValue(version), parsed.GetValue(architectures), parsed.GetValue(output));
            await PackageAsync(workspace, options, parsed.GetValue(check), cancellationToken);
            return 0;
        });
    }

    private static async Task PackageAsync(Workspace workspace, ReleaseOptions options, bool check, CancellationToken cancellationToken)
    {
        var needs = new Needs(new Installer(SystemPrograms.Current, workspace.State));
        ReleaseBuild.Require(needs);
        await needs.SettleAsync("package", cancellationToken);
        var sources = await Sources.ReadAsync(workspace.Root, cancellationToken);
        if (check)
        {
            ReleaseCheck.RequireCommitted(sources);
        }
        var build = new ReleaseBuild(workspace, options, sources);
        await build.RunAsync(cancellationToken);
        if (check)
        {
            await new ReleaseCheck(workspace.Root, options, sources).RunAsync(cancellationToken);
        }
    }
}
