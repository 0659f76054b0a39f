using System.Globalization;

namespace Billing.Load.Measuring;

/// <summary>Processor time that processes have used, as the kernel accounts it.</summary>
public static class CpuClock
{
    // USER_HZ, in which /proc states times, is 100 on every Linux that .NET runs on.
    private const double TicksPerSecond = 100;

    /// <summary>Seconds of processor time, user and system, that a process has used so far; its children not counted.
    /// </summary>
    /// <param name="processId">The process.</param>
    /// <returns>Null when it has ended.</returns>
    public static double? SecondsOf(int processId)
    {
        try
        {
            var stat = File.ReadAllText(string.Create(CultureInfo.InvariantCulture, $"/proc/{processId}/stat"));
            return Parse(stat);
        }
        catch (IOException)
        {
            return null;
        }
    }

    /// <summary>Reads utime and stime, fields 14 and 15 of proc(5)'s stat; the name before them may hold anything.</summary>
    public static double Parse(string stat)
    {
        var fields = stat[(stat.LastIndexOf(')') + 2)..].Split(' ');
        return (double.Parse(fields[11], CultureInfo.InvariantCulture) + double.Parse(fields[12], CultureInfo.InvariantCulture)) / TicksPerSecond;
    }
}
