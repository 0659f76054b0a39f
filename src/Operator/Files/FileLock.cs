namespace Billing.Operator.Files;

/// <summary>A lock that one process of this machine has at a time. It ends with the process,
/// whatever ends it.</summary>
internal static class FileLock
{
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(200);

    /// <summary>Waits for a lock, and says so if another process has it.</summary>
    public static async Task<IDisposable> AcquireAsync(string file, CancellationToken cancellationToken)
    {
        using var poll = new PeriodicTimer(PollInterval);
        for (var isFirst = true; ; isFirst = false)
        {
            try
            {
                // .NET locks a file that it opens without sharing as the program flock does.
                return new FileStream(file, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None);
            }
            catch (IOException) when (File.Exists(file))
            {
                if (isFirst)
                {
                    await Console.Error.WriteLineAsync(
                        "billing: waiting for another command that is busy with "
                        + $"{Path.GetFileNameWithoutExtension(file)}");
                }
            }
            await poll.WaitForNextTickAsync(cancellationToken);
        }
    }
}
