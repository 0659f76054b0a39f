using System.Globalization;

namespace Billing.Measuring.Processes;

/// <summary>Processor time, context switches and memory of programs, their child processes and their threads, read from Linux's
/// /proc at one moment.</summary>
internal sealed class ProcessorTimes
{
    private readonly IReadOnlyDictionary<string, IReadOnlyList<(int Id, CpuTime Used)>> _roles;
    private readonly IReadOnlyDictionary<(int Process, int Thread), ThreadTimes> _threads;

    private ProcessorTimes(
        IReadOnlyDictionary<string, IReadOnlyList<(int Id, CpuTime Used)>> roles, IReadOnlyDictionary<(int Process, int Thread), ThreadTimes> threads)
    {
        _roles = roles;
        _threads = threads;
    }

    /// <summary>Reads the times of programs.</summary>
    /// <param name="programs">Roles and process ids; programs of the same role are added up, and those that have ended are left
    /// out.</param>
    public static ProcessorTimes Read(IReadOnlyCollection<(string Role, int ProcessId)> programs)
    {
        var processes = CpuClock.All();
        var tree = CpuClock.TreeOf(processes);
        var roles = programs.Where(p => processes.ContainsKey(p.ProcessId)).GroupBy(p => p.Role, p => p.ProcessId, StringComparer.Ordinal).ToDictionary(
            role => role.Key,
            IReadOnlyList<(int Id, CpuTime Used)> (role) => [.. role.SelectMany(tree).Select(id => (id, processes[id].Used))],
            StringComparer.Ordinal);
        return new ProcessorTimes(roles, roles.Values.SelectMany(role => role).SelectMany(p => ThreadsOf(p.Id)).ToDictionary(t => t.Key, t => t.Value));
    }

    /// <summary>Parses the two counts of context switches in the status file of a thread (proc(5)).</summary>
    public static (long Voluntary, long Forced) ParseSwitches(string status)
    {
        long Count(string name) => status.Split('\n')
            .Where(line => line.StartsWith(name, StringComparison.Ordinal))
            .Select(line => long.Parse(line.AsSpan(name.Length), CultureInfo.InvariantCulture)).FirstOrDefault();
        return (Count("voluntary_ctxt_switches:"), Count("nonvoluntary_ctxt_switches:"));
    }

    /// <summary>Parses the proportional set size, in 10^6 bytes, in a smaps_rollup file (proc(5)). Memory that several processes
    /// share, such as PostgreSQL's buffers, is divided among them.</summary>
    public static double ParseMemoryMb(string rollup) => rollup.Split('\n')
        .Where(line => line.StartsWith("Pss:", StringComparison.Ordinal))
        .Select(line => double.Parse(line.Split(' ', StringSplitOptions.RemoveEmptyEntries)[1], CultureInfo.InvariantCulture) * 1024 / 1e6).First();

    /// <summary>Returns what each role has used since an earlier reading.</summary>
    public IReadOnlyList<ProgramUse> Since(ProcessorTimes before) => [.. _roles.Select(role => Since(before, role.Key, role.Value))];

    private ProgramUse Since(ProcessorTimes before, string role, IReadOnlyList<(int Id, CpuTime Used)> processes)
    {
        // The difference is taken for the whole role, not per process: the time of a process that has ended is added to its
        // parent's.
        var used = Sum(processes.Select(p => p.Used)) - Sum(before._roles.GetValueOrDefault(role, []).Select(p => p.Used));
        var ids = processes.Select(p => p.Id).ToHashSet();
        var threads = _threads.Where(t => ids.Contains(t.Key.Process)).Select(t => t.Value.Since(before._threads.GetValueOrDefault(t.Key))).ToList();
        return new ProgramUse(
            role, processes.Count, used.UserS * 1e6, used.KernelS * 1e6, threads.Sum(t => t.Voluntary), threads.Sum(t => t.Forced), MemoryMb(ids),
            [
                .. threads.GroupBy(t => t.Name, StringComparer.Ordinal)
                    .Select(named => (named.Key, Count: named.Count(), Used: Sum(named.Select(t => t.Used))))
                    .OrderByDescending(named => named.Used.Seconds)
                    .Select(named => new ThreadUse(named.Key, named.Count, named.Used.UserS * 1e6, named.Used.KernelS * 1e6)),
            ]);
    }

    private static CpuTime Sum(IEnumerable<CpuTime> times) => times.Aggregate(default(CpuTime), (sum, time) => sum + time);

    private static IEnumerable<KeyValuePair<(int, int), ThreadTimes>> ThreadsOf(int process)
    {
        var tasks = Folder(process) + "/task";
        foreach (var thread in Directory.Exists(tasks) ? Directory.GetDirectories(tasks) : [])
        {
            KeyValuePair<(int, int), ThreadTimes> read;
            try
            {
                var stat = CpuClock.Parse(File.ReadAllText(thread + "/stat"));
                var (voluntary, forced) = ParseSwitches(File.ReadAllText(thread + "/status"));
                read = new((process, int.Parse(Path.GetFileName(thread), CultureInfo.InvariantCulture)), new ThreadTimes(stat.Name, stat.Own, voluntary, forced));
            }
            catch (Exception e) when (e is IOException or UnauthorizedAccessException)
            {
                // The thread has ended.
                continue;
            }
            yield return read;
        }
    }

    private static double? MemoryMb(IEnumerable<int> processes)
    {
        try
        {
            return processes.Sum(id => ParseMemoryMb(File.ReadAllText(Folder(id) + "/smaps_rollup")));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or InvalidOperationException)
        {
            // A process has ended or belongs to another user: a partial sum would be misleading.
            return null;
        }
    }

    private static string Folder(int process) => "/proc/" + process.ToString(CultureInfo.InvariantCulture);

    private readonly record struct ThreadTimes(string Name, CpuTime Used, long Voluntary, long Forced)
    {
        public ThreadTimes Since(ThreadTimes before) => this with
        {
            Used = Used - before.Used,
            Voluntary = Voluntary - before.Voluntary,
            Forced = Forced - before.Forced,
        };
    }
}
