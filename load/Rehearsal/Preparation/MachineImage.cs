using System.Security.Cryptography;
using Billing.Cli.Setup;
using Billing.LocalStack.Processes;
using Billing.Operator.Files;

namespace Billing.Rehearsal.Preparation;

/// <summary>The initial file system of the machines, Debian 12 as in a cloud image, and the only package archive that
/// they can install from.</summary>
internal sealed class MachineImage(Workspace workspace)
{
    private const string Prefix = "rehearsal-image-";
    private const string Failure = "the machine image could not be built";
    private const string Source = "load/Rehearsal/Preparation/MachineImage.cs";

    private const UnixFileMode Executable = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute
        | UnixFileMode.GroupRead | UnixFileMode.GroupExecute | UnixFileMode.OtherRead | UnixFileMode.OtherExecute;

    // Those of a cloud image, and those that machines install at their first start.
    private static readonly string[] ImagePackages =
    [
        "systemd", "systemd-sysv", "dbus", "iproute2", "procps", "curl", "ca-certificates", "prometheus-node-exporter",
        "libc6", "libgcc-s1", "libstdc++6", "libssl3", "zlib1g", "libzstd1", "liblz4-1",
    ];

    private static readonly string[] LaterPackages =
    [
        "openjdk-17-jre-headless", "etcd-server", "patroni", "pgbackrest",
        "postgresql-15", "postgresql-client", "prometheus",
    ];

    /// <summary>Builds the image, unless this computer has it.</summary>
    /// <returns>Its folder: <c>root</c> is the file system, <c>packages</c> the archive.</returns>
    /// <exception cref="StackException">It could not be built.</exception>
    public async Task<string> EnsureAsync(CancellationToken cancellationToken)
    {
        // Another list or another way to build it is another image.
        var source = await File.ReadAllBytesAsync(Path.Combine(workspace.Root, Source), cancellationToken);
        var image = Path.Combine(workspace.Cache, Prefix + Convert.ToHexStringLower(SHA256.HashData(source))[..16]);
        if (!Directory.Exists(image))
        {
            using var only = await FileLock.AcquireAsync(
                Path.Combine(workspace.Cache, "rehearsal-image.lock"), cancellationToken);
            if (!Directory.Exists(image))
            {
                await BuildAsync(image, cancellationToken);
            }
        }
        return image;
    }

    private async Task BuildAsync(string image, CancellationToken cancellationToken)
    {
        await using var folder = TemporaryFolder.In(workspace.Cache);
        var done = Directory.CreateDirectory(folder.File("done"), Executable);
        var (root, packages) = (Path.Combine(done.FullName, "root"), Path.Combine(done.FullName, "packages"));
        var log = folder.File("image.log");
        await Progress.ShowAsync("building the machine image, once for this computer", log, async () =>
        {
            await InstallAsync(root, log, cancellationToken);
            await CollectAsync(root, packages, cancellationToken);
            await EmptyAsync(root, cancellationToken);
        });
        foreach (var old in Directory.EnumerateDirectories(workspace.Cache, Prefix + "*"))
        {
            await RemoveAsync([old], cancellationToken);
        }
        Directory.Move(done.FullName, image);
    }

    private static async Task InstallAsync(string root, string log, CancellationToken cancellationToken)
    {
        async Task RunAsync(Tool program, params string[] arguments)
        {
            if (await program.LogAsync(arguments, log, cancellationToken) != 0)
            {
                throw new StackException(Failure);
            }
        }
        await RunAsync(new Tool("debootstrap"), "--variant=minbase", "bookworm", root);
        // No services are started in the folder, and dpkg does not wait for the disk.
        var policy = Path.Combine(root, "usr/sbin/policy-rc.d");
        await File.WriteAllTextAsync(policy, "#!/bin/sh\nexit 101\n", cancellationToken);
        File.SetUnixFileMode(policy, Executable);
        await File.WriteAllTextAsync(
            Path.Combine(root, "etc/dpkg/dpkg.cfg.d/unsafe-io"), "force-unsafe-io\n", cancellationToken);
        var apt = new Tool("chroot", root, "apt-get", "-q")
        {
            Environment = new Dictionary<string, string> { ["DEBIAN_FRONTEND"] = "noninteractive", ["LC_ALL"] = "C" },
        };
        await RunAsync(apt, "update");
        await RunAsync(apt, ["-y", "--no-install-recommends", "install", .. ImagePackages]);
        await RunAsync(apt, "clean");
        await RunAsync(apt, ["-y", "--no-install-recommends", "--download-only", "install", .. LaterPackages]);
    }

    // Makes a package archive of the packages that were only downloaded.
    private static async Task CollectAsync(string root, string packages, CancellationToken cancellationToken)
    {
        Directory.CreateDirectory(packages, Executable);
        foreach (var package in Directory.EnumerateFiles(Path.Combine(root, "var/cache/apt/archives"), "*.deb"))
        {
            File.Move(package, Path.Combine(packages, Path.GetFileName(package)));
        }
        var archive = new Tool("apt-ftparchive") { Folder = packages };
        foreach (var (command, file) in new[] { ("packages", "Packages"), ("release", "Release") })
        {
            var content = await archive.RunAsync([command, "."], cancellationToken);
            await File.WriteAllTextAsync(Path.Combine(packages, file), content, cancellationToken);
        }
    }

    // Removes what a new machine does not have, and makes the archive its only one.
    private static async Task EmptyAsync(string root, CancellationToken cancellationToken)
    {
        string[] contents =
        [
            "var/lib/apt/lists", "etc/apt/sources.list.d",
            // Timers are not needed in machines that run for minutes.
            "etc/systemd/system/timers.target.wants",
        ];
        string[] files = ["usr/sbin/policy-rc.d", "etc/hostname", "etc/machine-id", "var/lib/dbus/machine-id"];
        await RemoveAsync(
            contents.Select(folder => Path.Combine(root, folder)).Where(Directory.Exists)
                .SelectMany(Directory.EnumerateFileSystemEntries)
                .Concat(files.Select(file => Path.Combine(root, file))),
            cancellationToken);
        await File.WriteAllTextAsync(
            Path.Combine(root, "etc/apt/sources.list"),
            "deb [trusted=yes] file:/srv/billing/packages ./\n", cancellationToken);
        await File.WriteAllTextAsync(Path.Combine(root, "etc/machine-id"), "", cancellationToken);
        await File.WriteAllTextAsync(Path.Combine(root, "etc/resolv.conf"), "", cancellationToken);
    }

    private static async Task RemoveAsync(IEnumerable<string> paths, CancellationToken cancellationToken) =>
        await new Tool("rm").RunAsync(["-rf", "--", .. paths], cancellationToken);
}
