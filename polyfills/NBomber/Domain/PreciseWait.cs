using System.Runtime.InteropServices;

namespace NBomber.Domain;

/// <summary>Blocks the calling thread until a time, to within some hundredths of a millisecond on Linux. The timers of .NET
/// may be late by several milliseconds there, which would count as latency of the called system.</summary>
internal static partial class PreciseWait
{
    // A stop is seen within this time.
    private static readonly TimeSpan Slice = TimeSpan.FromMilliseconds(20);

    /// <summary>Returns false, early, when the token is cancelled.</summary>
    public static bool Until(long timestamp, TimeProvider time, CancellationToken cancellationToken)
    {
        while (!cancellationToken.IsCancellationRequested)
        {
            var left = time.GetElapsedTime(time.GetTimestamp(), timestamp);
            if (left <= TimeSpan.Zero)
            {
                return true;
            }
            Wait(left < Slice ? left : Slice, cancellationToken);
        }
        return false;
    }

    private static void Wait(TimeSpan time, CancellationToken cancellationToken)
    {
        if (OperatingSystem.IsLinux())
        {
            var request = new TimeSpec { Nanoseconds = (nint)time.TotalNanoseconds };
            // A signal ends it early, which the caller's loop makes good.
            _ = NanoSleep(request, 0);
        }
        else
        {
            cancellationToken.WaitHandle.WaitOne(time);
        }
    }

    [LibraryImport("libc", EntryPoint = "nanosleep")]
    private static partial int NanoSleep(in TimeSpec request, nint remaining);

    private struct TimeSpec
    {
        public nint Seconds;
        public nint Nanoseconds;
    }
}
