using System.ComponentModel;
using System.Runtime.InteropServices;

namespace Billing.LocalStack.Processes;

/// <summary>A signal that a <see cref="ChildProcess"/> can be sent.</summary>
public enum Signal
{
    /// <summary>SIGINT; for PostgreSQL: disconnect all clients and stop.</summary>
    Interrupt = 2,

    /// <summary>SIGQUIT; for PostgreSQL: stop immediately, without a checkpoint.</summary>
    Quit = 3,

    /// <summary>SIGKILL: end without any clean-up.</summary>
    Kill = 9,

    /// <summary>SIGTERM: finish and stop.</summary>
    Terminate = 15,

    /// <summary>SIGCONT: resume after <see cref="Stop"/>.</summary>
    Continue = 18,

    /// <summary>SIGSTOP: pause, with all connections open.</summary>
    Stop = 19,
}

internal static class NativeMethods
{
    private const int NoSuchProcess = 3;

    // EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH (include/uapi/linux/ext4.h):
    // neither data nor journal is written any more.
    private const ulong ShutDown = 0x8004587D;
    private const uint WithoutFlush = 2;

    // A struct sigaction begins with the handler: SIG_DFL is 0, SIG_IGN 1. It is smaller than this.
    private const int ActionBytes = 512;
    private const nint Ignored = 1;

    /// <summary>Sends the signal; it is not an error if the process has already ended.</summary>
    public static void Send(int processId, Signal signal)
    {
        if (Kill(processId, (int)signal) != 0 && Marshal.GetLastPInvokeError() is var error and not NoSuchProcess)
        {
            throw new StackException($"Cannot send {signal} to process {processId}", new Win32Exception(error));
        }
    }

    /// <summary>Starts programs that SIGINT ends, although this one may ignore it and they would inherit that:
    /// a shell has its jobs in the background ignore it.</summary>
    public static void WithInterrupt(Action start)
    {
        var (before, standard) = (new byte[ActionBytes], new byte[ActionBytes]);
        if (Act((int)Signal.Interrupt, null, before) != 0 || MemoryMarshal.Read<nint>(before) != Ignored)
        {
            start();
            return;
        }
        _ = Act((int)Signal.Interrupt, standard, null);
        try
        {
            start();
        }
        finally
        {
            _ = Act((int)Signal.Interrupt, before, null);
        }
    }

    public static void ChangeOwner(string path, ServiceAccount account)
    {
        if (ChangeOwner(path, account.UserId, account.GroupId) != 0)
        {
            var cause = new Win32Exception(Marshal.GetLastPInvokeError());
            throw new StackException($"Cannot change the owner of {path} to {account.Name}: {cause.Message}", cause);
        }
    }

    /// <summary>Ends a file system as a loss of power does.</summary>
    public static void ShutDownFileSystem(string path)
    {
        var (flags, folder) = (WithoutFlush, Open(path, 0));
        var failed = folder < 0 || Control(folder, ShutDown, ref flags) != 0;
        var cause = new Win32Exception(Marshal.GetLastPInvokeError());
        _ = Close(folder);
        if (failed)
        {
            throw new StackException($"Cannot shut down the file system {path}: {cause.Message}", cause);
        }
    }

    [DllImport("libc", EntryPoint = "open", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static extern int Open([MarshalAs(UnmanagedType.LPUTF8Str)] string path, int flags);

    [DllImport("libc", EntryPoint = "ioctl", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static extern int Control(int file, ulong request, ref uint argument);

    [DllImport("libc", EntryPoint = "close", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static extern int Close(int file);

    [DllImport("libc", EntryPoint = "sigaction", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static extern int Act(int signal, byte[]? action, byte[]? before);

    [DllImport("libc", EntryPoint = "kill", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static extern int Kill(int processId, int signal);

    [DllImport("libc", EntryPoint = "chown", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static extern int ChangeOwner([MarshalAs(UnmanagedType.LPUTF8Str)] string path, uint user, uint group);
}
