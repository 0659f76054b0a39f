using System.Runtime.InteropServices;
using Billing.Cli.Release;
using Billing.Cli.Setup;
using Billing.LocalStack;
using Billing.LocalStack.Processes;

namespace Billing.Rehearsal.Preparation;

/// <summary>Prepares what a rehearsal needs, a machine image and two releases, and runs it in a
/// process of its own.</summary>
internal sealed class PreparedRehearsal(Workspace workspace)
{
    private const UnixFileMode Open = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute
        | UnixFileMode.GroupRead | UnixFileMode.GroupExecute | UnixFileMode.OtherRead | UnixFileMode.OtherExecute;

    // Mounts and network namespaces are visible only in this mount namespace, and end with it.
    private const string OwnNetworks = "mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns && exec \"$@\"";

    /// <param name="arguments">The command line, to which the paths of what was prepared are added.</param>
    /// <param name="former">The folder of a release that is installed first; null for one of
    /// the present sources.</param>
    /// <param name="isShort">Whether nothing is upgraded, so that one release will do.</param>
    public async Task<int> RunAsync(
        IEnumerable<string> arguments, string? former, bool isShort, CancellationToken cancellationToken)
    {
        if (!Environment.IsPrivilegedProcess)
        {
            throw new StackException(
                "rehearse needs root: it creates network namespaces, control groups and containers");
        }
        var installed = former is null ? null : Release.Read(former);
        await SettleNeedsAsync(cancellationToken);
        var image = await new MachineImage(workspace).EnsureAsync(cancellationToken);
        var release = installed ?? Release.Read((await BuildReleaseAsync(version: null, cancellationToken)).Output);
        var next = isShort
            ? release.Folder
            : (await BuildReleaseAsync(NextVersion(release.Version), cancellationToken)).Output;

        await using var folder = TemporaryFolder.In(Path.GetTempPath());
        File.SetUnixFileMode(folder.Path, Open);
        using var limit = WatchLimit.Raise();
        return await new Tool("unshare", "--mount", "--propagation", "private", "sh", "-euc", OwnNetworks, "sh")
            .PassThroughAsync(
                [
                    DotnetProgram.Launcher, DotnetProgram.FileOf("Billing.Rehearsal"), .. arguments,
                    "--folder", folder.Path, "--image", image, "--release", release.Folder, "--next-release", next,
                ],
                cancellationToken);
    }

    /// <summary>Returns the version after one: the next patch, without a label.</summary>
    internal static string NextVersion(string version)
    {
        var numbers = version.Split('-')[0].Split('.');
        var patch = int.Parse(numbers[2]) + 1;
        return $"{numbers[0]}.{numbers[1]}.{patch}";
    }

    private async Task SettleNeedsAsync(CancellationToken cancellationToken)
    {
        var needs = new Needs(new Installer(SystemPrograms.Current, workspace.State));
        needs.Program("ip", "iproute2", "to create the machines' network");
        needs.Program("nft", "nftables", "to create the machines' network");
        needs.Program("systemd-nspawn", "systemd-container", "to run machines");
        needs.Program("debootstrap", "debootstrap", "to create the machine image");
        needs.Program("apt-ftparchive", "apt-utils", "to create the machine image");
        needs.Program("sysctl", "procps", "to create the machines' network");
        ReleaseBuild.Require(needs);
        await needs.SettleAsync("rehearse", cancellationToken);
        if (Environment.GetEnvironmentVariable("BILLING_TOOLS") is { Length: > 0 } tools)
        {
            Environment.SetEnvironmentVariable(
                "PATH", tools + Path.PathSeparator + Environment.GetEnvironmentVariable("PATH"));
        }
        if (Tool.Find("terraform") is null)
        {
            throw new StackException(
                "terraform 1.5 or newer is missing: https://developer.hashicorp.com/terraform/install (or set "
                + "BILLING_TOOLS to its folder)");
        }
    }

    private async Task<ReleaseOptions> BuildReleaseAsync(string? version, CancellationToken cancellationToken)
    {
        var architecture = RuntimeInformation.OSArchitecture switch
        {
            Architecture.X64 => "linux-x64",
            Architecture.Arm64 => "linux-arm64",
            var other => throw new StackException($"there is no release for {other}"),
        };
        var options = ReleaseOptions.Read(workspace.Root, version, architecture, output: null);
        await new ReleaseBuild(workspace, options, await Sources.ReadAsync(workspace.Root, cancellationToken)).RunAsync(
            cancellationToken);
        return options;
    }
}
