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
        var version = new Option<string?>("--version") { Description = "Version of the release (SemVer); by default Version in Directory.Build.props", HelpName = "V" };
        var architectures = new Option<string?>("--architectures") { Description = "linux-x64, linux-arm64 or both, separated by a comma; by default those that can be built here", HelpName = "LIST" };
        var output = new Option<string?>("--output") { Description = "Folder of the release, by default artifacts/release/V; an earlier release in it is replaced", HelpName = "FOLDER" };
        var check = new Option<bool>("--check") { Description = "Package the release again, from a clone in another folder, and compare the bytes" };
        var command = new Command("package", "Creates the archives that machines and images are installed from, and the NuGet packages of the SDK.")
        {
            version, architectures, output, check,
        };
        command.SetAction((parsed, cancellationToken) => Guarded.RunAsync(async () =>
        {
            var workspace = Workspace.FromEnvironment();
            var options = ReleaseOptions.Read(
                workspace.Root, parsed.GetValue(version), parsed.GetValue(architectures), parsed.GetValue(output));
            await PackageAsync(workspace, options, parsed.GetValue(check), cancellationToken);
            return 0;
        }));
        return command;
    }

    private static async Task PackageAsync(Workspace workspace, ReleaseOptions options, bool check, CancellationToken cancellationToken)
    {
        var needs = new Needs(new Installer(SystemPrograms.Current, workspace.State));
        ReleaseBuild.Require(needs);
        await needs.SettleAsync("package", cancellationToken);
        if (check)
        {
            await ReleaseCheck.RequireCommittedAsync(workspace.Root, cancellationToken);
        }
        var time = await ReleaseTime.ReadAsync(workspace.Root, cancellationToken);
        await new ReleaseBuild(workspace, options, time).RunAsync(cancellationToken);
        if (check)
        {
            await new ReleaseCheck(workspace.Root, options, time).RunAsync(cancellationToken);
        }
    }
}
