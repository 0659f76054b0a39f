using System.ComponentModel;
using System.Runtime.InteropServices;

namespace Billing.LocalStack.Processes;

/// <summary>A signal that a <see cref="ChildProcess"/> can be sent.</summary>
public enum Signal
{
    /// <summary>SIGINT, which PostgreSQL takes as "disconnect everyone and stop".</summary>
    Interrupt = 2,

    /// <summary>SIGQUIT, which PostgreSQL takes as "stop at once, without a checkpoint".</summary>
    Quit = 3,

    /// <summary>SIGKILL: no clean-up whatsoever.</summary>
    Kill = 9,

    /// <summary>SIGTERM: finish and stop.</summary>
    Terminate = 15,

    /// <summary>SIGCONT: go on after <see cref="Stop"/>.</summary>
    Continue = 18,

    /// <summary>SIGSTOP: freeze, with all connections open.</summary>
    Stop = 19,
}

internal static class NativeMethods
{
    private const int NoSuchProcess = 3;

    /// <summary>Sends the signal; a process that is already gone is not an error.</summary>
    public static void Send(int processId, Signal signal)
    {
        if (Kill(processId, (int)signal) != 0 && Marshal.GetLastPInvokeError() is var error and not NoSuchProcess)
        {
            throw new StackException($"Cannot send {signal} to process {processId}", new Win32Exception(error));
        }
    }

    public static void ChangeOwner(string path, ServiceAccount account)
    {
        if (ChangeOwner(path, account.UserId, account.GroupId) != 0)
        {
            var cause = new Win32Exception(Marshal.GetLastPInvokeError());
            throw new StackException($"Cannot give {path} to user {account.Name}: {cause.Message}", cause);
        }
    }

    [DllImport("libc", EntryPoint = "kill", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static extern int Kill(int processId, int signal);

    [DllImport("libc", EntryPoint = "chown", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static extern int ChangeOwner([MarshalAs(UnmanagedType.LPUTF8Str)] string path, uint user, uint group);
}
