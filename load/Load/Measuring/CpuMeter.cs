using System.Globalization;

namespace Billing.Load.Measuring;

/// <summary>Processor time that programs use from this object's creation on, with all they start: PostgreSQL is a process a
/// connection.</summary>
/// <param name="programs">Names and process ids; times of the same name are added up.</param>
public sealed class CpuMeter(IReadOnlyCollection<(string Name, int ProcessId)> programs)
{
    private readonly IReadOnlyDictionary<string, double> _before = Read(programs);

    /// <summary>Seconds of processor time by name; one that has ended meanwhile is left out.</summary>
    public IReadOnlyDictionary<string, double> Elapsed()
    {
        var now = Read(programs);
        return new SortedDictionary<string, double>(
            _before.Where(b => now.ContainsKey(b.Key)).ToDictionary(b => b.Key, b => Math.Max(0, now[b.Key] - b.Value)), StringComparer.Ordinal);
    }

    private static Dictionary<string, double> Read(IReadOnlyCollection<(string Name, int ProcessId)> programs)
    {
        var processes = CpuClock.All();
        var children = processes.ToLookup(p => p.Value.ParentId, p => p.Key);
        var seconds = new Dictionary<string, double>(StringComparer.Ordinal);
        foreach (var (name, id) in programs)
        {
            if (processes.ContainsKey(id))
            {
                seconds[name] = seconds.GetValueOrDefault(name) + SecondsOfTree(id, processes, children);
            }
        }
        return seconds;
    }

    private static double SecondsOfTree(
        int id, IReadOnlyDictionary<int, ProcessCpu> processes, ILookup<int, int> children) =>
        processes[id].Seconds + children[id].Sum(child => SecondsOfTree(child, processes, children));
}

/// <summary>Processor time as the kernel accounts it.</summary>
public static class CpuClock
{
    // USER_HZ, in which /proc states times, is 100 on every Linux that .NET runs on.
    private const double TicksPerSecond = 100;

    /// <summary>Every process of this machine that may be looked at, by its id.</summary>
    public static IReadOnlyDictionary<int, ProcessCpu> All()
    {
        var processes = new Dictionary<int, ProcessCpu>();
        foreach (var folder in Directory.EnumerateDirectories("/proc"))
        {
            if (int.TryParse(Path.GetFileName(folder.AsSpan()), NumberStyles.None, CultureInfo.InvariantCulture, out var id))
            {
                try
                {
                    processes[id] = Parse(File.ReadAllText(Path.Combine(folder, "stat")));
                }
                catch (Exception e) when (e is IOException or UnauthorizedAccessException)
                {
                    // Ended meanwhile, or another user's.
                }
            }
        }
        return processes;
    }

    /// <summary>Reads ppid, utime, stime, cutime and cstime, fields 4 and 14 to 17 of proc(5)'s stat; the name before them may
    /// hold anything.</summary>
    public static ProcessCpu Parse(string stat)
    {
        ArgumentNullException.ThrowIfNull(stat);
        var fields = stat[(stat.LastIndexOf(')') + 2)..].Split(' ');
        return new ProcessCpu(
            int.Parse(fields[1], CultureInfo.InvariantCulture),
            fields[11..15].Sum(ticks => long.Parse(ticks, CultureInfo.InvariantCulture)) / TicksPerSecond);
    }
}

/// <summary>What the kernel says of one process.</summary>
/// <param name="ParentId">The process that started it.</param>
/// <param name="Seconds">Processor time, user and system, of itself and of its children that have ended.</param>
public readonly record struct ProcessCpu(int ParentId, double Seconds);
