using System.Globalization;

namespace Billing.Measuring.Processes;

/// <summary>Measures the processor time that programs and their child processes use from this object's creation on,
/// to the nanosecond but for children that have ended. Child processes are included because PostgreSQL starts one
/// process per connection.</summary>
/// <param name="programs">Names and process ids; the times of programs with the same name are added up.</param>
public sealed class CpuMeter(IReadOnlyCollection<(string Name, int ProcessId)> programs)
{
    private readonly Dictionary<int, double> _before = Read(programs);

    /// <summary>Returns the seconds of processor time by name. Processes that have ended in the meantime are left out,
    /// because their time is not known; a name is missing if all its processes have ended.</summary>
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
        var children = processes.ToLookup(p => p.Value.ParentId, p => p.Key);
        IEnumerable<int> Tree(int id) => children[id].SelectMany(Tree).Prepend(id);
        return programs.Select(program => program.ProcessId).Distinct().Where(processes.ContainsKey)
            .ToDictionary(
                id => id,
                id => Tree(id).Sum(member => Own(member, processes[member]) + processes[member].EndedChildrenS));
    }

    // /proc counts in hundredths of a second, too coarse for short measurements and idle programs.
    private static double Own(int id, ProcessCpu process)
    {
        try
        {
            return new ProcessClock(id).Used().TotalSeconds;
        }
        catch (LocalStack.Processes.StackException)
        {
            // It has ended since it was listed.
            return process.OwnS;
        }
    }
}

/// <summary>Reads processor times from the kernel's accounting.</summary>
public static class CpuClock
{
    // USER_HZ, the unit of the times in /proc, is 100 on every Linux that .NET runs on.
    private const double TicksPerSecond = 100;

    /// <summary>Reads every process of this machine that this user may read, by process id.</summary>
    public static IReadOnlyDictionary<int, ProcessCpu> All()
    {
        var processes = new Dictionary<int, ProcessCpu>();
        foreach (var folder in Directory.EnumerateDirectories("/proc"))
        {
            if (int.TryParse(
                Path.GetFileName(folder.AsSpan()), NumberStyles.None, CultureInfo.InvariantCulture, out var id))
            {
                try
                {
                    processes[id] = Parse(File.ReadAllText(Path.Combine(folder, "stat")));
                }
                catch (Exception e) when (e is IOException or UnauthorizedAccessException)
                {
                    // The process has ended, or belongs to another user.
                }
            }
        }
        return processes;
    }

    /// <summary>Parses ppid, utime, stime, cutime and cstime, fields 4 and 14 to 17 of the stat file of a process
    /// (proc(5)); its name, the second field, may contain any characters.</summary>
    public static ProcessCpu Parse(string stat)
    {
        ArgumentNullException.ThrowIfNull(stat);
        var fields = stat[(stat.LastIndexOf(')') + 2)..].Split(' ');
        return new ProcessCpu(
            int.Parse(fields[1], CultureInfo.InvariantCulture),
            Seconds(fields[11]) + Seconds(fields[12]), Seconds(fields[13]) + Seconds(fields[14]));
    }

    private static double Seconds(string ticks) => long.Parse(ticks, CultureInfo.InvariantCulture) / TicksPerSecond;
}

/// <summary>The kernel's accounting of one process.</summary>
/// <param name="ParentId">The id of the parent process.</param>
/// <param name="OwnS">Seconds of processor time of the process itself.</param>
/// <param name="EndedChildrenS">Seconds of processor time of its children that have ended.</param>
public readonly record struct ProcessCpu(int ParentId, double OwnS, double EndedChildrenS);
