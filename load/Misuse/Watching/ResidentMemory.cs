using System.Globalization;

namespace Billing.Misuse.Watching;

/// <summary>The resident memory of a process, as the kernel counts it (proc(5)).</summary>
internal static class ResidentMemory
{
    private const string Peak = "VmHWM:";

    // Sets the peak to what is resident now.
    private const string ForgetPeak = "5";

    /// <summary>Begins a new peak.</summary>
    /// <returns>False if the process has ended.</returns>
    public static bool ForgetPeakOf(int processId)
    {
        try
        {
            File.WriteAllText($"/proc/{processId}/clear_refs", ForgetPeak);
            return true;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return false;
        }
    }

    /// <summary>The most that was resident since the peak was forgotten, in bytes; null if the process has
    /// ended.</summary>
    public static long? PeakOf(int processId)
    {
        try
        {
            return File.ReadLines($"/proc/{processId}/status")
                .FirstOrDefault(line => line.StartsWith(Peak, StringComparison.Ordinal)) is { } line
                ? 1024 * long.Parse(line[Peak.Length..^"kB".Length], CultureInfo.InvariantCulture)
                : null;
        }
        catch (IOException)
        {
            return null;
        }
    }
}
