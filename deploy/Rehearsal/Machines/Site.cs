using Billing.Rehearsal.Network;

namespace Billing.Rehearsal.Machines;

/// <summary>What the machines of a rehearsal share: the image, the release, secrets, a folder for files, and the network.</summary>
/// <param name="folder">Everything of this rehearsal; whoever made it deletes it.</param>
/// <param name="image">The file system that every machine begins with.</param>
/// <param name="packages">Debian packages that machines install from.</param>
/// <param name="network">What connects them.</param>
/// <param name="groupName">The control group above those of the machines.</param>
internal sealed class Site(string folder, string image, string packages, MachineNetwork network, string groupName)
{
    private const UnixFileMode Open = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute
        | UnixFileMode.GroupRead | UnixFileMode.GroupExecute | UnixFileMode.OtherRead | UnixFileMode.OtherExecute;

    private const UnixFileMode OpenToWriters = Open | UnixFileMode.GroupWrite | UnixFileMode.OtherWrite | UnixFileMode.StickyBit;
    private const UnixFileMode Private = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute;

    /// <summary>Where logs go.</summary>
    public string Logs { get; } = Make(Path.Combine(folder, "logs"), Open);

    /// <summary>A folder for each release, as machines see it at /srv/billing/releases.</summary>
    public string Releases { get; } = Make(Path.Combine(folder, "releases"), Open);

    /// <summary>A file for each secret, as machines see it at /etc/billing/secrets.</summary>
    public string Secrets { get; } = Make(Path.Combine(folder, "secrets"), Private);

    /// <summary>What all machines may write to, at /srv/billing/shared: journals and reports.</summary>
    public string Shared { get; } = Make(Path.Combine(folder, "shared"), OpenToWriters);

    /// <summary>Debian packages.</summary>
    public string Packages => packages;

    /// <summary>What connects the machines.</summary>
    public MachineNetwork Network => network;

    /// <summary>The control group above those of the machines.</summary>
    public string GroupName => groupName;

    /// <summary>A path for something of this rehearsal.</summary>
    public string PathOf(string name) => Path.Combine(folder, name);

    /// <summary>Mounts a machine's file system: the image, and what the machine writes over it. The mount ends with the mount
    /// namespace of this process.</summary>
    /// <returns>Where it is.</returns>
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
