using Billing.Cli.Monitoring;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Setup;

/// <summary>Debian's Prometheus, unpacked into the cache: installing the package would create a system service and start it.</summary>
/// <param name="installer">The machine, and its lists of packages.</param>
/// <param name="cache">The folder that keeps it.</param>
internal sealed class PrometheusPackage(Installer installer, string cache)
{
    private const string Label = "downloading prometheus, once for this machine";
    private static readonly TimeSpan LongestDownload = TimeSpan.FromHours(1);

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
    /// <exception cref="StackException">The variable names a folder without these programs.</exception>
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
    /// <exception cref="StackException">It cannot be fetched.</exception>
    public async Task<string> EnsureAsync(CancellationToken cancellationToken)
    {
        if (Find() is null)
        {
            using var one = await FileLock.TakeAsync(Unpacked + ".lock", cancellationToken);
            if (Find() is null)
            {
                await FetchAsync(cancellationToken);
            }
        }
        return Find() ?? throw new StackException("the package prometheus does not contain prometheus and promtool");
    }

    private async Task FetchAsync(CancellationToken cancellationToken)
    {
        var folder = Directory.CreateDirectory(Path.Combine(cache, $".billing.{Guid.NewGuid():N}")).FullName;
        try
        {
            try
            {
                await Messages.WithClockAsync(Label, RunAsync(folder, ["apt-get", "download", "-q", "prometheus"], cancellationToken));
            }
            catch (StackException) when (!cancellationToken.IsCancellationRequested)
            {
                if (!await installer.CanInstallAsync(cancellationToken))
                {
                    throw new StackException("could not download the package prometheus: its lists are out of date (sudo apt-get update)");
                }
                await installer.UpdateListsAsync(cancellationToken);
                await Messages.WithClockAsync(Label, RunAsync(folder, ["apt-get", "download", "-q", "prometheus"], cancellationToken));
            }
            var package = Directory.GetFiles(folder, "prometheus_*.deb").Single();
            await RunAsync(folder, ["dpkg-deb", "-x", package, Path.Combine(folder, "unpacked")], cancellationToken);
            if (Directory.Exists(Unpacked))
            {
                Directory.Delete(Unpacked, recursive: true);
            }
            Directory.Move(Path.Combine(folder, "unpacked"), Unpacked);
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    private static Task RunAsync(string folder, string[] command, CancellationToken cancellationToken) => ChildProcess.RunAsync(
        new ChildProcessStart(command[0], command[0], command[1..], Path.Combine(folder, "download.log")) { WorkingDirectory = folder },
        LongestDownload, cancellationToken);

    private static bool IsComplete(string folder) =>
        File.Exists(Path.Combine(folder, "prometheus")) && File.Exists(Path.Combine(folder, "promtool"));
}
