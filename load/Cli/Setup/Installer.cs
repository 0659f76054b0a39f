using Billing.LocalStack.Processes;

namespace Billing.Cli.Setup;

/// <summary>Installs packages with Debian's package tools, where that asks for no password,
/// and else says how to.</summary>
internal sealed class Installer(SystemPrograms machine, string state)
{
    private const string ClusterSettings = "/etc/postgresql-common/createcluster.d";

    private bool _isUpToDate;
    private bool? _canInstall;

    public SystemPrograms Machine => machine;
    private string Log => Path.Combine(state, "apt.log");

    // A program's name is searched for on this machine's PATH by env, not by this process.
    private Tool AsRoot => new("/usr/bin/env", machine.IsRoot ? [] : ["sudo", "-n"])
    {
        Environment = new Dictionary<string, string> { ["PATH"] = machine.Path },
    };

    /// <summary>Whether packages can be installed without a password.</summary>
    public async Task<bool> CanInstallAsync(CancellationToken cancellationToken) => _canInstall ??=
        machine.Find("apt-get") is not null
        && (machine.IsRoot
            || (machine.Find("sudo") is not null && await AsRoot.LogAsync(["true"], Log, cancellationToken) == 0));

    public async Task InstallAsync(
        string why, IReadOnlyCollection<string> packages, CancellationToken cancellationToken)
    {
        var names = string.Join(' ', packages);
        Messages.Say($"installing {names} ({why})");
        await UpdateListsAsync(cancellationToken);
        var setting = packages.Contains("postgresql") ? await WithoutClusterAsync(cancellationToken) : null;
        try
        {
            await Progress.RunAsync(
                "installing", Log, AsRoot,
                [
                    "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-q", "-y",
                    "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300", .. packages,
                ],
                $"could not install {names}", cancellationToken);
        }
        finally
        {
            if (setting is not null)
            {
                await AsRoot.LogAsync(["rm", "-f", setting], Log, CancellationToken.None);
                await AsRoot.LogAsync(
                    ["rmdir", "--ignore-fail-on-non-empty", Path.GetDirectoryName(setting)!],
                    Log, CancellationToken.None);
            }
        }
    }

    /// <summary>Installs packages that a command can do without.</summary>
    /// <returns>False, with a message, if that requires a password or failed.</returns>
    public async Task<bool> TryInstallAsync(
        string why, IReadOnlyCollection<string> packages, CancellationToken cancellationToken)
    {
        try
        {
            if (await CanInstallAsync(cancellationToken))
            {
                await InstallAsync(why, packages, cancellationToken);
                return true;
            }
            Messages.Say($"missing: {string.Join(' ', packages)} ({why})");
        }
        catch (StackException e)
        {
            Messages.Say(e.Message);
        }
        return false;
    }

    /// <summary>Reads the lists of packages, once.</summary>
    public async Task UpdateListsAsync(CancellationToken cancellationToken)
    {
        if (_isUpToDate)
        {
            return;
        }
        _isUpToDate = true;
        await Progress.WithClockAsync("reading package lists", async () =>
        {
            if (await AsRoot.LogAsync(["apt-get", "update", "-q"], Log, cancellationToken) != 0)
            {
                Messages.Say("the package lists may be out of date");
            }
        });
    }

    /// <summary>The command that installs packages, for a person; null if the system's installer is not
    /// Debian's.</summary>
    public string? CommandFor(IEnumerable<string> packages)
    {
        var names = packages.Distinct().ToList();
        if (names.Count == 0 || machine.Find("apt-get") is null)
        {
            return null;
        }
        // There, installing PostgreSQL creates and starts a system cluster, unless a setting prevents it.
        var install = "apt-get update; apt-get install -y --no-install-recommends " + string.Join(' ', names);
        var setting = ClusterSettings + "/billing.conf";
        return (machine.IsRoot ? "" : "sudo ") + (names.Contains("postgresql")
            ? $"sh -c 'mkdir -p {ClusterSettings}; echo create_main_cluster=false >{setting}; {install}; rm {setting}'"
            : $"sh -c '{install}'");
    }

    private async Task<string> WithoutClusterAsync(CancellationToken cancellationToken)
    {
        var setting = machine.Root + ClusterSettings + "/billing.conf";
        var text = Path.Combine(state, "createcluster.conf");
        await File.WriteAllTextAsync(text, "create_main_cluster = false\n", cancellationToken);
        await AsRoot.LogAsync(["install", "-D", "-m", "644", text, setting], Log, cancellationToken);
        File.Delete(text);
        return setting;
    }
}
