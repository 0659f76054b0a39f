using System.Globalization;

namespace Billing.Measuring;

/// <summary>Processor time that programs use from this object's creation on, with all they start: PostgreSQL is a process a
/// connection.</summary>
/// <param name="programs">Names and process ids; times of the same name are added up.</param>
public sealed class CpuMeter(IReadOnlyCollection<(string Name, int ProcessId)> programs)
{
    private readonly Dictionary<int, double> _before = Read(programs);

    /// <summary>Seconds of processor time by name. What a process used that has ended meanwhile is not known and left out, and a
    /// name with it where all its processes have.</summary>
    public IReadOnlyDictionary<string, double> Elapsed()
    {
        var now = Read(programs);
        var elapsed = new SortedDictionary<string, double>(StringComparer.Ordinal);
        foreach (var (name, id) in programs)
        {
            if (_before.TryGetValue(id, out var before) && now.TryGetValue(id, out var seconds))
            {
                elapsed[name] = elapsed.GetValueOrDefault(name) + seconds - before;
            }
        }
        return elapsed;
    }

    private static Dictionary<int, double> Read(IReadOnlyCollection<(string Name, int ProcessId)> programs)
    {
        var processes = CpuClock.All();
        var tree = CpuClock.TreeOf(processes);
        return programs.Select(program => program.ProcessId).Distinct().Where(processes.ContainsKey)
            .ToDictionary(id => id, id => tree(id).Sum(member => processes[member].Used.Seconds));
    }
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

    /// <summary>Lists a process with all that it started and that is still there, by its id.</summary>
    public static Func<int, IEnumerable<int>> TreeOf(IReadOnlyDictionary<int, ProcessCpu> processes)
    {
        var children = processes.ToLookup(p => p.Value.ParentId, p => p.Key);
        return Tree;

        IEnumerable<int> Tree(int id) => children[id].SelectMany(Tree).Prepend(id);
    }

    /// <summary>Reads comm, ppid, utime, stime, cutime and cstime, fields 2, 4 and 14 to 17 of proc(5)'s stat, of a process or of
    /// a thread; the name may hold anything.</summary>
    public static ProcessCpu Parse(string stat)
    {
        ArgumentNullException.ThrowIfNull(stat);
        var (open, close) = (stat.IndexOf('('), stat.LastIndexOf(')'));
        var fields = stat[(close + 2)..].Split(' ');
        return new ProcessCpu(
            stat[(open + 1)..close], int.Parse(fields[1], CultureInfo.InvariantCulture),
            new CpuTime(Seconds(fields[11]), Seconds(fields[12])), new CpuTime(Seconds(fields[13]), Seconds(fields[14])));
    }

    private static double Seconds(string ticks) => long.Parse(ticks, CultureInfo.InvariantCulture) / TicksPerSecond;
}

/// <summary>What the kernel says of one process, or of one thread.</summary>
/// <param name="Name">The program's or the thread's name, of 15 characters at most.</param>
/// <param name="ParentId">The process that started it.</param>
/// <param name="Own">Its own processor time.</param>
/// <param name="EndedChildren">That of the process's children that have ended.</param>
public readonly record struct ProcessCpu(string Name, int ParentId, CpuTime Own, CpuTime EndedChildren)
{
    /// <summary>Its own and its ended children's.</summary>
    public CpuTime Used => Own + EndedChildren;
}

/// <summary>Processor time.</summary>
/// <param name="UserS">Seconds in the program's code.</param>
/// <param name="KernelS">Seconds in the kernel's.</param>
public readonly record struct CpuTime(double UserS, double KernelS)
{
    /// <summary>Both.</summary>
    public double Seconds => UserS + KernelS;

    /// <summary>The times of two together.</summary>
    public static CpuTime operator +(CpuTime one, CpuTime other) => new(one.UserS + other.UserS, one.KernelS + other.KernelS);

    /// <summary>What has been added since.</summary>
    public static CpuTime operator -(CpuTime now, CpuTime before) => new(now.UserS - before.UserS, now.KernelS - before.KernelS);
}
