using System.Diagnostics;
using Billing.Operator.Files;

namespace Billing.LocalStack.Processes;

/// <summary>
/// The folder of one stack, <c>billing-USER-RANDOM</c> under <see cref="Path.GetTempPath"/>: data, logs, settings.
/// Disposal deletes it. If this process is killed before that, a guard process deletes it.
/// </summary>
public sealed class StackFolder : IAsyncDisposable
{
    // The guard waits for the end of its standard input, which the kernel closes when this process ends in whatever
    // way. Servers that are shutting down may still write while it deletes, so it retries for a while.
    private const string GuardScript =
        """
        cd /; read -r line; tries=0
        umount -l "$0/disk" 2>/dev/null
        until rm -rf -- "$0" 2>/dev/null || [ "$tries" -ge 100 ]; do tries=$((tries + 1)); sleep 0.1; done
        """;


    private readonly bool _delete;
    private readonly Process? _guard;

    private StackFolder(string path, bool guarded, bool delete)
    {
        FullName = path;
        _delete = delete;
        _guard = guarded
            ? ChildProcess.Launch(new ProcessStartInfo("setsid", ["/bin/sh", "-c", GuardScript, path])
            {
                RedirectStandardInput = true,
                RedirectStandardOutput = true,
                RedirectStandardError = true,
            })
            : null;
    }

    /// <summary>The folder's absolute path.</summary>
    public string FullName { get; }

    /// <summary>The disk on which servers keep their data; null if that is in this folder.</summary>
    public LossyDisk? Disk { get; private set; }

    /// <summary>The absolute path of the folder with one log file per program.</summary>
    public string Logs => LogsIn(FullName);

    /// <summary>Creates a folder.</summary>
    /// <param name="keep">Whether it remains after disposal and after the end of this process.</param>
    /// <exception cref="StackException">The temporary folder cannot be written to.</exception>
    public static StackFolder Create(bool keep = false) => Attempt(() =>
    {
        var path = Directory.CreateTempSubdirectory($"billing-{Environment.UserName}-").FullName;
        PrivateFolder.Create(LogsIn(path));
        if (Environment.IsPrivilegedProcess)
        {
            // PostgreSQL's account must be able to traverse the folder, but not to list it.
            File.SetUnixFileMode(path, PrivateFolder.Mode | UnixFileMode.GroupExecute | UnixFileMode.OtherExecute);
        }
        return new StackFolder(path, guarded: !keep, delete: !keep);
    });

    /// <summary>Takes over a kept folder, so that disposal of the result deletes it.</summary>
    /// <exception cref="StackException">There is no such folder.</exception>
    public static StackFolder Adopt(string path) => Directory.Exists(LogsIn(path))
        ? new StackFolder(path, guarded: false, delete: true)
        : throw new StackException($"{path} is not the folder of a stack");

    /// <summary>Returns the <see cref="Logs"/> of a folder that another process created.</summary>
    public static string LogsIn(string path) => Path.Combine(path, "logs");

    /// <summary>Returns the path of a program's log file.</summary>
    /// <param name="name">The program's name within the stack, such as <c>postgres</c> or <c>kafka-1</c>.</param>
    public string LogFile(string name) => Path.Combine(Logs, name + ".log");

    /// <summary>Gives the servers that are started from now on a disk of their own for their data.</summary>
    /// <exception cref="StackException">It cannot be mounted.</exception>
    public async Task AddDiskAsync(CancellationToken cancellationToken) =>
        Disk = await LossyDisk.CreateAsync(this, cancellationToken);

    /// <summary>Creates a subfolder that only this process's user may access.</summary>
    /// <returns>Its absolute path.</returns>
    /// <exception cref="StackException">It cannot be created.</exception>
    public string CreateSubfolder(string name) => Attempt(() => PrivateFolder.Create(Path.Combine(FullName, name)));

    /// <summary>Creates the folder of a server's data, which only its owner may access.</summary>
    /// <param name="owner">Its owner; this process's user if absent.</param>
    /// <returns>Its absolute path.</returns>
    /// <exception cref="StackException">It cannot be created, or its owner cannot be set.</exception>
    public string CreateDataFolder(string name, ServiceAccount? owner = null)
    {
        var path = Attempt(() => PrivateFolder.Create(Path.Combine(Disk?.FullName ?? FullName, name)));
        if (owner is not null)
        {
            NativeMethods.ChangeOwner(path, owner);
        }
        return path;
    }

    /// <summary>Deletes the folder, unless it is a kept one.</summary>
    /// <exception cref="StackException">A file in it cannot be deleted.</exception>
    public async ValueTask DisposeAsync()
    {
        if (Disk is not null)
        {
            await Disk.DisposeAsync();
        }
        if (_guard is not null)
        {
            _guard.StandardInput.Close();
            await _guard.WaitForExitAsync();
            _guard.Dispose();
        }
        if (_delete && Directory.Exists(FullName))
        {
            Attempt(() =>
            {
                Directory.Delete(FullName, recursive: true);
                return FullName;
            });
        }
    }

    private static T Attempt<T>(Func<T> action)
    {
        try
        {
            return action();
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            throw new StackException($"The stack's folder: {exception.Message}", exception);
        }
    }
}
