using Billing.LocalStack.Processes;
using Billing.Rehearsal.Network;

namespace Billing.Rehearsal.Machines;

/// <summary>The resources that the machines of a rehearsal share: the image, the releases, secrets, a folder for files, and the
/// network.</summary>
/// <param name="folder">The folder for all files of this rehearsal; its creator deletes it.</param>
/// <param name="image">The initial file system of every machine.</param>
/// <param name="packages">The folder with the Debian packages to install.</param>
/// <param name="network">The network between the machines.</param>
/// <param name="groupName">The parent of the machines' control groups.</param>
internal sealed class Site(string folder, string image, string packages, MachineNetwork network, string groupName)
{
    private const UnixFileMode Open = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute
        | UnixFileMode.GroupRead | UnixFileMode.GroupExecute | UnixFileMode.OtherRead | UnixFileMode.OtherExecute;

    private const UnixFileMode OpenToWriters = Open | UnixFileMode.GroupWrite | UnixFileMode.OtherWrite | UnixFileMode.StickyBit;
    private const UnixFileMode Private = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute;

    /// <summary>The folder for logs.</summary>
    public string Logs { get; } = Make(Path.Combine(folder, "logs"), Open);

    /// <summary>The folder of the releases, which machines have at /srv/billing/releases.</summary>
    public string Releases { get; } = Make(Path.Combine(folder, "releases"), Open);

    /// <summary>The folder with a file for each secret, which machines have at /etc/billing/secrets.</summary>
    public string Secrets { get; } = Make(Path.Combine(folder, "secrets"), Private);

    /// <summary>The folder for journals and reports, to which all machines may write, at /srv/billing/shared.</summary>
    public string Shared { get; } = Make(Path.Combine(folder, "shared"), OpenToWriters);

    /// <summary>The folder with the Debian packages.</summary>
    public string Packages => packages;

    /// <summary>The network between the machines.</summary>
    public MachineNetwork Network => network;

    /// <summary>The parent of the machines' control groups.</summary>
    public string GroupName => groupName;

    /// <summary>Returns a path in the folder of this rehearsal.</summary>
    public string PathOf(string name) => Path.Combine(folder, name);

    /// <summary>Mounts a machine's file system: the image with a writable layer over it. The mount ends with the mount namespace
    /// of this process.</summary>
    /// <returns>The mount point.</returns>
    public async Task<string> MountAsync(string machine, CancellationToken cancellationToken)
    {
        var own = Make(PathOf("machine-" + machine), Open);
        var (upper, work, root) = (Make(Path.Combine(own, "upper"), Open), Make(Path.Combine(own, "work"), Open), Make(Path.Combine(own, "root"), Open));
        await new Tool("mount").RunAsync(
            ["-t", "overlay", "overlay", "-o", $"lowerdir={image},upperdir={upper},workdir={work}", root], cancellationToken);
        return root;
    }

    private static string Make(string path, UnixFileMode mode)
    {
        Directory.CreateDirectory(path);
        File.SetUnixFileMode(path, mode);
        return path;
    }
}
