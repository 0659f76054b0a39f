namespace Billing.Cli.Setup;

/// <summary>A lock between processes, in a file. It ends with its holder, whatever ends that.</summary>
internal sealed class FileLock : IDisposable
{
    private static readonly TimeSpan BetweenTries = TimeSpan.FromMilliseconds(200);

    private readonly FileStream _file;

    private FileLock(FileStream file) => _file = file;

    /// <summary>Waits until no other process holds the lock.</summary>
    /// <param name="file">Its file, which is created if needed and stays.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    public static async Task<FileLock> TakeAsync(string file, CancellationToken cancellationToken)
    {
        for (var isSaid = false; ;)
        {
            try
            {
                return new FileLock(new FileStream(file, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None));
            }
            catch (IOException) when (File.Exists(file))
            {
                if (!isSaid)
                {
                    isSaid = true;
                    Messages.Say($"waiting for another ./billing that is busy with {Path.GetFileNameWithoutExtension(file)}");
                }
                await Task.Delay(BetweenTries, TimeProvider.System, cancellationToken);
            }
        }
    }

    public void Dispose() => _file.Dispose();
}
