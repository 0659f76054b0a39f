using Billing.LocalStack.Processes;
using Billing.Rehearsal.Network;

namespace Billing.Rehearsal.Machines;

/// <summary>The resources that the machines of a rehearsal share: the image, the releases, secrets, a folder for
/// files, and the network.</summary>
internal sealed class Site(string folder, string image, string packages, MachineNetwork network, string groupName)
{
    private const UnixFileMode Open = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute
        | UnixFileMode.GroupRead | UnixFileMode.GroupExecute | UnixFileMode.OtherRead | UnixFileMode.OtherExecute;

    private const UnixFileMode OpenToWriters = Open | UnixFileMode.GroupWrite | UnixFileMode.OtherWrite
        | UnixFileMode.StickyBit;
    private const UnixFileMode Private = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute;

    public string Logs { get; } = Make(Path.Combine(folder, "logs"), Open);

    /// <summary>The folder of the releases, which machines have at /srv/billing/releases.</summary>
    public string Releases { get; } = Make(Path.Combine(folder, "releases"), Open);

    /// <summary>The folder with a file for each secret, which machines have at /etc/billing/secrets.</summary>
    public string Secrets { get; } = Make(Path.Combine(folder, "secrets"), Private);

    /// <summary>The folder for journals and reports, to which all machines may write, at /srv/billing/shared.</summary>
    public string Shared { get; } = Make(Path.Combine(folder, "shared"), OpenToWriters);

    public string Packages => packages;
    public MachineNetwork Network => network;
    public string GroupName => groupName;

    public string PathOf(string name) => Path.Combine(folder, name);

    /// <summary>Mounts a machine's file system: the image with a writable layer over it.
    /// The mount ends with the mount namespace of this process.</summary>
    /// <returns>The mount point.</returns>
    public async Task<string> MountAsync(string machine, CancellationToken cancellationToken)
    {
        var own = Make(PathOf("machine-" + machine), Open);
        var (upper, work, root) = (Make(Path.Combine(own, "upper"), Open), Make(Path.Combine(own, "work"), Open), Make(
            Path.Combine(own, "root"), Open));
        await new Tool("mount").RunAsync(
            ["-t", "overlay", "overlay", "-o", $"lowerdir={image},upperdir={upper},workdir={work}", root],
            cancellationToken);
        return root;
    }

    /// <summary>Deletes a machine's file system; the machine must have ended.</summary>
    public async Task DeleteAsync(string machine, CancellationToken cancellationToken)
    {
        var own = PathOf("machine-" + machine);
        await new Tool("umount").RunAsync(["-R", "-l", Path.Combine(own, "root")], cancellationToken);
        await new Tool("rm").RunAsync(["-rf", "--", own], cancellationToken);
    }

    private static string Make(string path, UnixFileMode mode)
    {
        Directory.CreateDirectory(path);
        File.SetUnixFileMode(path, mode);
        return path;
    }
}
