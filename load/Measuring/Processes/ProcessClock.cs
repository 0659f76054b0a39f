using System.ComponentModel;
using System.Runtime.InteropServices;
using Billing.LocalStack.Processes;

namespace Billing.Measuring.Processes;

/// <summary>Reads the processor time of one process to the nanosecond, including threads that have ended. The times in
/// /proc have a resolution of a hundredth of a second, which is too coarse for short measurements.</summary>
/// <param name="processId">The process; its child processes are not included.</param>
internal sealed class ProcessClock(int processId)
{
    /// <summary>Returns the processor time used since the process started.</summary>
    /// <exception cref="StackException">The process has ended.</exception>
    public TimeSpan Used() =>
        ClockOf(processId, out var clock) is var error and not 0 ? throw NotThere(error)
        : Read(clock, out var time) != 0 ? throw NotThere(Marshal.GetLastPInvokeError())
        : TimeSpan.FromSeconds(time.Seconds) + TimeSpan.FromMicroseconds(time.Nanoseconds / 1000.0);

    private StackException NotThere(int error) =>
        new($"The processor time of process {processId} cannot be read: {new Win32Exception(error).Message}.");

    [DllImport("libc", EntryPoint = "clock_getcpuclockid")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static extern int ClockOf(int processId, out int clock);

    [DllImport("libc", EntryPoint = "clock_gettime", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static extern int Read(int clock, out Timespec time);

    [StructLayout(LayoutKind.Sequential)]
    private readonly struct Timespec
    {
        public readonly nint Seconds;
        public readonly nint Nanoseconds;
    }
}
