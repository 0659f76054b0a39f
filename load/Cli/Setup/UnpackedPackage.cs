using Billing.Cli.Monitoring;
using Billing.LocalStack.Postgres;
using Billing.LocalStack.Processes;
using Billing.Operator.Files;

namespace Billing.Cli.Setup;

/// <summary>A package of Debian's, unpacked into the cache: installing it would create a system
/// service and start it.</summary>
/// <param name="package">Its name.</param>
/// <param name="programs">The programs that are needed from it.</param>
/// <param name="variable">The environment variable that names a folder of these programs.</param>
/// <param name="why">What they are needed for, and where else they are found.</param>
internal sealed class UnpackedPackage(
    Installer installer, string cache, string package, IReadOnlyList<string> programs, string variable, string why)
{
    /// <summary>Its name.</summary>
    public string Name => package;

    private string Unpacked => Path.Combine(cache, package);

    /// <summary>Prometheus, for <c>up --monitoring</c>.</summary>
    public static UnpackedPackage Prometheus(Installer installer, string cache) => new(
        installer, cache, "prometheus", ["prometheus", "promtool"], LocalPrometheus.FolderVariable,
        $"to monitor the stack (https://prometheus.io/download; set {LocalPrometheus.FolderVariable} to the folder of "
            + "its programs)");

    /// <summary>etcd, for several PostgreSQL servers.</summary>
    public static UnpackedPackage Etcd(Installer installer, string cache) => new(
        installer, cache, "etcd-server", ["etcd"], FailoverPrograms.EtcdVariable,
        "to agree on the primary of several PostgreSQL servers (https://etcd.io; "
            + $"set {FailoverPrograms.EtcdVariable} to the folder of its program)");

    /// <summary>Records it if it can't be fetched: on systems other than Debian it must already be installed.</summary>
    public void Need(Needs needs)
    {
        if (Find() is null && (installer.Machine.Find("apt-get") is null || installer.Machine.Find("dpkg-deb") is null))
        {
            needs.Add(programs[0], "", why);
        }
    }

    /// <summary>The folder of the programs: the one that is set, the installed one, or the one in the cache;
    /// null if there is none.</summary>
    public string? Find()
    {
        if (installer.Machine.Variable(variable) is { } named)
        {
            return IsComplete(named)
                ? named
                : throw new StackException($"{variable} is {named}: no {string.Join(" and ", programs)} there");
        }
        return new[] { installer.Machine.Root + "/usr/bin", Path.Combine(Unpacked, "usr", "bin") }.FirstOrDefault(
            IsComplete);
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
        return Find()
            ?? throw new StackException($"the package {package} does not contain {string.Join(" and ", programs)}");
    }

    private async Task FetchAsync(CancellationToken cancellationToken)
    {
        await using var folder = TemporaryFolder.In(cache);
        await Progress.WithClockAsync($"downloading {package}, once for this machine", async () =>
        {
            var apt = new Tool("apt-get") { Folder = folder.Path };
            if ((await apt.TryAsync(["download", "-q", package], cancellationToken)).ExitCode != 0)
            {
                if (!await installer.CanInstallAsync(cancellationToken))
                {
                    throw new StackException(
                        $"could not download the package {package}: its lists are out of date (sudo apt-get update)");
                }
                await installer.UpdateListsAsync(cancellationToken);
                await apt.RunAsync(["download", "-q", package], cancellationToken);
            }
        });
        var file = Directory.GetFiles(folder.Path, package + "_*.deb").Single();
        await new Tool("dpkg-deb").RunAsync(["-x", file, folder.File("unpacked")], cancellationToken);
        if (Directory.Exists(Unpacked))
        {
            Directory.Delete(Unpacked, recursive: true);
        }
        Directory.Move(folder.File("unpacked"), Unpacked);
    }

    private bool IsComplete(string folder) => programs.All(program => File.Exists(Path.Combine(folder, program)));
}
