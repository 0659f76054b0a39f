namespace Billing.LocalStack.Processes;

/// <summary>A file system in a file, which can lose its power at any moment: what was not synced to it is gone,
/// and its journal is replayed when the power is back. Only root may mount it.</summary>
public sealed class LossyDisk : IAsyncDisposable
{
    /// <summary>The name of the folder within the stack's where it is mounted; the guard of the
    /// folder unmounts it.</summary>
    internal const string Name = "disk";

    // Sparse: it takes as much space as is used.
    private const long Bytes = 8L << 30;

    private static readonly TimeSpan RetryInterval = TimeSpan.FromMilliseconds(100);

    private readonly StackFolder _folder;
    private readonly string _image;

    private LossyDisk(StackFolder folder)
    {
        _folder = folder;
        _image = Path.Combine(folder.FullName, "disk.image");
        FullName = folder.CreateSubfolder(Name);
    }

    /// <summary>The absolute path of its root.</summary>
    public string FullName { get; }

    /// <summary>Why there can be none on this machine; null if there can.</summary>
    public static string? Missing => !Environment.IsPrivilegedProcess ? "only root may mount a file system"
        : !File.Exists("/dev/loop-control") ? "there are no loop devices"
        : null;

    /// <summary>Creates and mounts it.</summary>
    /// <exception cref="StackException">It cannot be mounted.</exception>
    public static async Task<LossyDisk> CreateAsync(StackFolder folder, CancellationToken cancellationToken)
    {
        var disk = new LossyDisk(folder);
        await using (var image = new FileStream(disk._image, FileMode.CreateNew))
        {
            image.SetLength(Bytes);
        }
        await disk.RunAsync("mkfs.ext4", ["-q", "-F", disk._image], cancellationToken);
        await disk.MountAsync(cancellationToken);
        return disk;
    }

    /// <summary>Writes everything to it that programs have written so far.</summary>
    public Task SyncAsync(CancellationToken cancellationToken) => RunAsync("sync", ["-f", FullName], cancellationToken);

    /// <summary>Takes its power: every access fails from now on, and nothing more is written to it.</summary>
    public void LosePower() => NativeMethods.ShutDownFileSystem(FullName);

    /// <summary>Gives it power again. The programs that used it must end; it waits for that.</summary>
    public async Task RestorePowerAsync(CancellationToken cancellationToken)
    {
        await UnmountAsync(cancellationToken);
        await MountAsync(cancellationToken);
    }

    /// <summary>Unmounts it; its contents are deleted with the stack's folder.</summary>
    public async ValueTask DisposeAsync() => await UnmountAsync(CancellationToken.None);

    private Task MountAsync(CancellationToken cancellationToken) =>
        RunAsync("mount", ["-o", "loop", _image, FullName], cancellationToken);

    private async Task UnmountAsync(CancellationToken cancellationToken)
    {
        using var retry = new PeriodicTimer(RetryInterval);
        var start = TimeProvider.System.GetTimestamp();
        while (true)
        {
            try
            {
                await RunAsync("umount", [FullName], cancellationToken);
                return;
            }
            catch (StackException) when (TimeProvider.System.GetElapsedTime(start) < ChildProcess.Patience)
            {
                // The sessions of a killed server take a moment to end.
                await retry.WaitForNextTickAsync(cancellationToken);
            }
        }
    }

    private Task RunAsync(string program, string[] arguments, CancellationToken cancellationToken) =>
        ChildProcess.RunAsync(
            new ChildProcessStart(program, program, arguments, _folder.LogFile("disk")),
            ChildProcess.Patience, cancellationToken);
}
