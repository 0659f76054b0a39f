namespace Billing.Cli.Setup;

/// <summary>A lock that one process of this machine has at a time. It ends with the process, whatever ends it.</summary>
internal static class FileLock
{
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(200);

    /// <summary>Waits for a lock, and says so if another process has it.</summary>
    public static async Task<IDisposable> AcquireAsync(string file, CancellationToken cancellationToken)
    {
        if (TryAcquire(file) is { } free)
        {
            return free;
        }
        Messages.Say($"waiting for another ./billing that is busy with {Path.GetFileNameWithoutExtension(file)}");
        using var poll = new PeriodicTimer(PollInterval);
        while (true)
        {
            await poll.WaitForNextTickAsync(cancellationToken);
            if (TryAcquire(file) is { } acquired)
            {
                return acquired;
            }
        }
    }

    // .NET locks a file that it opens without sharing as the program flock does.
    private static FileStream? TryAcquire(string file)
    {
        try
        {
            return new FileStream(file, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None);
        }
        catch (IOException) when (File.Exists(file))
        {
            return null;
        }
    }
}
