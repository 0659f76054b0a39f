using Billing.Cli.Monitoring;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Setup;

/// <summary>Debian's Prometheus, unpacked into the cache: installing the package would create a system service and start it.</summary>
internal sealed class PrometheusPackage(Installer installer, string cache)
{
    private string Unpacked => Path.Combine(cache, "prometheus");

    /// <summary>Records it if it can't be fetched: on systems other than Debian it must already be installed.</summary>
    public void Need(Needs needs)
    {
        if (Find() is null && (installer.Machine.Find("apt-get") is null || installer.Machine.Find("dpkg-deb") is null))
        {
            needs.Add("prometheus", "", "to monitor the stack (https://prometheus.io/download; set BILLING_PROMETHEUS_BIN to the folder of its programs)");
        }
    }

    /// <summary>The folder of <c>prometheus</c> and <c>promtool</c>: the one that is set, the installed one, or the one in the cache; null
    /// if there is none.</summary>
    public string? Find()
    {
        if (installer.Machine.Variable(LocalPrometheus.FolderVariable) is { } named)
        {
            return IsComplete(named)
                ? named
                : throw new StackException($"{LocalPrometheus.FolderVariable} is {named}: no prometheus and promtool there");
        }
        return new[] { installer.Machine.Root + "/usr/bin", Path.Combine(Unpacked, "usr", "bin") }.FirstOrDefault(IsComplete);
    }

    /// <summary>Finds it or fetches it.</summary>
    /// <returns>The folder of its programs.</returns>
    public async Task<string> EnsureAsync(CancellationToken cancellationToken)
    {
        if (Find() is null)
        {
            using var one = await FileLock.AcquireAsync(Unpacked + ".lock", cancellationToken);
            if (Find() is null)
            {
                await FetchAsync(cancellationToken);
            }
        }
        return Find() ?? throw new StackException("the package prometheus does not contain prometheus and promtool");
    }

    private async Task FetchAsync(CancellationToken cancellationToken)
    {
        await using var folder = TemporaryFolder.In(cache);
        await Progress.WithClockAsync("downloading prometheus, once for this machine", async () =>
        {
            var apt = new Tool("apt-get") { Folder = folder.Path };
            if ((await apt.TryAsync(["download", "-q", "prometheus"], cancellationToken)).ExitCode != 0)
            {
                if (!await installer.CanInstallAsync(cancellationToken))
                {
                    throw new StackException("could not download the package prometheus: its lists are out of date (sudo apt-get update)");
                }
                await installer.UpdateListsAsync(cancellationToken);
                await apt.RunAsync(["download", "-q", "prometheus"], cancellationToken);
            }
        });
        var package = Directory.GetFiles(folder.Path, "prometheus_*.deb").Single();
        await new Tool("dpkg-deb").RunAsync(["-x", package, folder.File("unpacked")], cancellationToken);
        if (Directory.Exists(Unpacked))
        {
            Directory.Delete(Unpacked, recursive: true);
        }
        Directory.Move(folder.File("unpacked"), Unpacked);
    }

    private static bool IsComplete(string folder) =>
        File.Exists(Path.Combine(folder, "prometheus")) && File.Exists(Path.Combine(folder, "promtool"));
}
