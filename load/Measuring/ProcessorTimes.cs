using System.Globalization;

namespace Billing.Measuring;

/// <summary>Processor time, context switches and memory of programs with all that they start, down to their threads, as Linux'
/// /proc has them at one moment.</summary>
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

    /// <summary>Looks at programs.</summary>
    /// <param name="programs">Roles and process ids; those of the same role are added up, and one that is gone is left out.</param>
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

    /// <summary>Reads the two counts of context switches from proc(5)'s status of a thread.</summary>
    public static (long Voluntary, long Forced) ParseSwitches(string status)
    {
        long Count(string name) => status.Split('\n')
            .Where(line => line.StartsWith(name, StringComparison.Ordinal))
            .Select(line => long.Parse(line.AsSpan(name.Length), CultureInfo.InvariantCulture)).FirstOrDefault();
        return (Count("voluntary_ctxt_switches:"), Count("nonvoluntary_ctxt_switches:"));
    }

    /// <summary>Reads the proportional set size, in 10^6 bytes, from proc(5)'s smaps_rollup: what several processes share, as
    /// PostgreSQL's do their buffers, is shared out among them.</summary>
    public static double ParseMemoryMb(string rollup) => rollup.Split('\n')
        .Where(line => line.StartsWith("Pss:", StringComparison.Ordinal))
        .Select(line => double.Parse(line.Split(' ', StringSplitOptions.RemoveEmptyEntries)[1], CultureInfo.InvariantCulture) * 1024 / 1e6).First();

    /// <summary>What was used since an earlier look, by role.</summary>
    public IReadOnlyList<ProgramUse> Since(ProcessorTimes before) => [.. _roles.Select(role => Since(before, role.Key, role.Value))];

    private ProgramUse Since(ProcessorTimes before, string role, IReadOnlyList<(int Id, CpuTime Used)> processes)
    {
        // The whole of a role, not process by process: what one that has ended used is in its parent's times from then on.
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
                // Ended meanwhile.
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
            // Another user's, or ended meanwhile: part of a sum would mislead.
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
