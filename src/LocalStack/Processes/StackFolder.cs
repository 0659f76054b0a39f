using System.Diagnostics;

namespace Billing.LocalStack.Processes;

/// <summary>
/// The folder of one stack, <c>billing-USER-RANDOM</c> under <see cref="Path.GetTempPath"/>: data, logs, settings.
/// Disposal deletes it. Should this process be killed before that, a guard deletes it instead.
/// </summary>
public sealed class StackFolder : IAsyncDisposable
{
    // The guard waits for the end of its standard input, which the kernel closes with this process, however it ends.
    // Servers that are just shutting down may still write while it deletes, so it tries again for a while.
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

    /// <summary>The absolute path of the folder that holds one log file a program.</summary>
    public string Logs { get; }

    /// <summary>Creates a folder that lives as long as the instance.</summary>
    /// <exception cref="StackException">The temporary folder cannot be written to.</exception>
    public static StackFolder Create() => Create(keep: false);

    /// <summary>Creates a folder that stays when the instance, or this process, is gone.</summary>
    /// <exception cref="StackException">The temporary folder cannot be written to.</exception>
    public static StackFolder CreateKept() => Create(keep: true);

    /// <summary>Takes over a kept folder, so that disposal deletes it.</summary>
    /// <param name="path">The <see cref="FullName"/> of a folder made by <see cref="CreateKept"/>.</param>
    /// <exception cref="StackException">There is no such folder.</exception>
    public static StackFolder Adopt(string path)
    {
        if (!Directory.Exists(LogsIn(path)))
        {
            throw new StackException($"{path} is not the folder of a stack");
        }

        return new StackFolder(path, guarded: false, delete: true);
    }

    /// <summary>The <see cref="Logs"/> of a folder that another process made.</summary>
    /// <param name="path">Its <see cref="FullName"/>.</param>
    public static string LogsIn(string path) => Path.Combine(path, "logs");

    /// <summary>The path of a program's log file.</summary>
    /// <param name="name">The program's name within the stack, such as <c>postgres</c> or <c>kafka-1</c>.</param>
    public string LogFile(string name) => Path.Combine(Logs, name + ".log");

    /// <summary>Creates a folder in this one, private to its owner.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="owner">Who may use it; this process's own user when absent.</param>
    /// <returns>Its absolute path.</returns>
    /// <exception cref="StackException">It cannot be created, or not be given to its owner.</exception>
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
    /// <exception cref="StackException">Something in it cannot be deleted.</exception>
    public async ValueTask DisposeAsync()
    {
        if (_guard is not null)
        {
            _guard.StandardInput.Close();
            await _guard.WaitForExitAsync().ConfigureAwait(false);
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
                // PostgreSQL's account has to pass through, and needs to see nothing else.
                CreateFolder(path, Private | UnixFileMode.GroupExecute | UnixFileMode.OtherExecute);
            }
        });
        return new StackFolder(path, guarded: !keep, delete: !keep);
    }

    /// <summary>Creates a folder that its owner alone may look into; one that is there is made so.</summary>
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
