using System.Diagnostics;

namespace Billing.LocalStack.Processes;

/// <summary>
/// The folder of one stack, <c>billing-USER-RANDOM</c> under <see cref="Path.GetTempPath"/>: data, logs, settings.
/// Disposal deletes it. If this process is killed before that, a guard process deletes it.
/// </summary>
public sealed class StackFolder : IAsyncDisposable
{
    // The guard waits for the end of its standard input, which the kernel closes when this process ends in whatever way.
    // Servers that are shutting down may still write while it deletes, so it retries for a while.
    private const string GuardScript =
        """
        cd /; read -r line; tries=0
        until rm -rf -- "$0" 2>/dev/null || [ "$tries" -ge 100 ]; do tries=$((tries + 1)); sleep 0.1; done
        """;

    private const UnixFileMode Private = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute;

    private readonly Process? _guard;
    private readonly bool _delete;

    private StackFolder(string path, bool guarded, bool delete)
    {
        FullName = path;
        Logs = LogsIn(path);
        _delete = delete;
        _guard = guarded ? StartGuard(path) : null;
    }

    /// <summary>The folder's absolute path.</summary>
    public string FullName { get; }

    /// <summary>The absolute path of the folder with one log file per program.</summary>
    public string Logs { get; }

    /// <summary>Creates a folder that is deleted with the instance.</summary>
    /// <exception cref="StackException">The temporary folder cannot be written to.</exception>
    public static StackFolder Create() => Create(keep: false);

    /// <summary>Creates a folder that remains after disposal and after the end of this process.</summary>
    /// <exception cref="StackException">The temporary folder cannot be written to.</exception>
    public static StackFolder CreateKept() => Create(keep: true);

    /// <summary>Takes over a kept folder, so that disposal of the result deletes it.</summary>
    /// <param name="path">The <see cref="FullName"/> of a folder created by <see cref="CreateKept"/>.</param>
    /// <exception cref="StackException">There is no such folder.</exception>
    public static StackFolder Adopt(string path)
    {
        if (!Directory.Exists(LogsIn(path)))
        {
            throw new StackException($"{path} is not the folder of a stack");
        }

        return new StackFolder(path, guarded: false, delete: true);
    }

    /// <summary>Returns the <see cref="Logs"/> of a folder that another process created.</summary>
    /// <param name="path">Its <see cref="FullName"/>.</param>
    public static string LogsIn(string path) => Path.Combine(path, "logs");

    /// <summary>Returns the path of a program's log file.</summary>
    /// <param name="name">The program's name within the stack, such as <c>postgres</c> or <c>kafka-1</c>.</param>
    public string LogFile(string name) => Path.Combine(Logs, name + ".log");

    /// <summary>Creates a subfolder that only its owner may access.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="owner">Its owner; this process's user if absent.</param>
    /// <returns>Its absolute path.</returns>
    /// <exception cref="StackException">It cannot be created, or its owner cannot be set.</exception>
    public string CreateSubfolder(string name, ServiceAccount? owner = null)
    {
        var path = Path.Combine(FullName, name);
        Attempt(() => CreateFolder(path, Private));
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
        if (_guard is not null)
        {
            _guard.StandardInput.Close();
            await _guard.WaitForExitAsync();
            _guard.Dispose();
        }

        if (_delete && Directory.Exists(FullName))
        {
            Attempt(() => Directory.Delete(FullName, recursive: true));
        }
    }

    private static StackFolder Create(bool keep)
    {
        var path = string.Empty;
        Attempt(() =>
        {
            path = Directory.CreateTempSubdirectory($"billing-{Environment.UserName}-").FullName;
            CreateFolder(LogsIn(path), Private);
            if (Environment.IsPrivilegedProcess)
            {
                // PostgreSQL's account must be able to traverse the folder, but not to list it.
                CreateFolder(path, Private | UnixFileMode.GroupExecute | UnixFileMode.OtherExecute);
            }
        });
        return new StackFolder(path, guarded: !keep, delete: !keep);
    }

    /// <summary>Creates a folder that only its owner may access; sets the mode of an existing one.</summary>
    internal static void CreatePrivate(string path) => CreateFolder(path, Private);

    private static void CreateFolder(string path, UnixFileMode mode)
    {
        Directory.CreateDirectory(path);
        if (!OperatingSystem.IsWindows())
        {
            File.SetUnixFileMode(path, mode);
        }
    }

    private static Process StartGuard(string path)
    {
        var start = new ProcessStartInfo("setsid", ["/bin/sh", "-c", GuardScript, path])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        return ChildProcess.Launch(start);
    }

    private static void Attempt(Action action)
    {
        try
        {
            action();
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            throw new StackException($"The stack's folder: {exception.Message}", exception);
        }
    }
}
