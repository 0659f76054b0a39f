using System.Globalization;

namespace Billing.Measuring.Processes;

/// <summary>The resources that all programs of one role used over a period, or per payment (see <see cref="Per"/>).</summary>
/// <param name="Role">The role, e.g. <c>proxy</c>.</param>
/// <param name="Processes">Number of processes at the end.</param>
/// <param name="UserUs">Microseconds of processor time in user mode.</param>
/// <param name="KernelUs">Microseconds of processor time in kernel mode.</param>
/// <param name="VoluntarySwitches">Voluntary context switches: a thread waited.</param>
/// <param name="ForcedSwitches">Involuntary context switches: a thread was preempted.</param>
/// <param name="MemoryMb">Resident memory at the end in 10^6 bytes, memory that processes share counted once; null if it cannot
/// be read.</param>
/// <param name="Threads">Threads by name, those with the most processor time first; without threads that have ended.</param>
public sealed record ProgramUse(
    string Role, int Processes, double UserUs, double KernelUs, double VoluntarySwitches, double ForcedSwitches, double? MemoryMb,
    IReadOnlyList<ThreadUse> Threads)
{
    /// <summary>The counts of their .NET runtimes; null for programs that have none or do not expose its metrics.</summary>
    public RuntimeUse? Runtime { get; init; }

    /// <summary>Divides by a number of payments; memory and the numbers of processes and threads are not divided.</summary>
    public ProgramUse Per(double payments) => this with
    {
        UserUs = UserUs / payments,
        KernelUs = KernelUs / payments,
        VoluntarySwitches = VoluntarySwitches / payments,
        ForcedSwitches = ForcedSwitches / payments,
        Threads = [.. Threads.Select(t => t with { UserUs = t.UserUs / payments, KernelUs = t.KernelUs / payments })],
        Runtime = Runtime?.Per(payments),
    };
}

/// <summary>The processor time of all threads with the same name.</summary>
/// <param name="Name">The name, at most 15 characters.</param>
/// <param name="Count">Number of threads.</param>
/// <param name="UserUs">Microseconds of processor time in user mode.</param>
/// <param name="KernelUs">Microseconds of processor time in kernel mode.</param>
public sealed record ThreadUse(string Name, int Count, double UserUs, double KernelUs);

/// <summary>Allocations and garbage collections of .NET runtimes.</summary>
/// <param name="AllocatedBytes">Bytes allocated.</param>
/// <param name="Gen0">Collections of generation 0 only.</param>
/// <param name="Gen1">Collections of generations 0 and 1.</param>
/// <param name="Gen2">Collections of all generations.</param>
/// <param name="PauseUs">Microseconds for which collections paused all other threads.</param>
public sealed record RuntimeUse(double AllocatedBytes, double Gen0, double Gen1, double Gen2, double PauseUs)
{
    private const string Collections = "dotnet_gc_collections_total";

    /// <summary>Returns the counts of this process since it started.</summary>
    public static RuntimeUse OfThisProcess() => new(
        GC.GetTotalAllocatedBytes(), GC.CollectionCount(0) - GC.CollectionCount(1), GC.CollectionCount(1) - GC.CollectionCount(2),
        GC.CollectionCount(2), GC.GetTotalPauseDuration().TotalMicroseconds);

    /// <summary>Parses the metrics of the meter System.Runtime that a service exposes in Prometheus's text format.</summary>
    /// <returns>Null if the text does not contain them.</returns>
    public static RuntimeUse? Parse(string metrics)
    {
        ArgumentNullException.ThrowIfNull(metrics);
        var series = metrics.Split('\n').Where(line => line.StartsWith("dotnet_gc_", StringComparison.Ordinal)).ToList();
        double? Value(string name, string label = "") => series
            .Where(line => line[..line.AsSpan().IndexOfAny('{', ' ')] == name && line.Contains(label, StringComparison.Ordinal))
            .Select(line => (double?)ValueOf(line)).FirstOrDefault();
        return Value("dotnet_gc_heap_total_allocated_bytes_total") is { } allocated
            ? new RuntimeUse(
                allocated, Value(Collections, "\"gen0\"") ?? 0, Value(Collections, "\"gen1\"") ?? 0, Value(Collections, "\"gen2\"") ?? 0,
                (Value("dotnet_gc_pause_time_seconds_total") ?? 0) * 1e6)
            : null;
    }

    /// <summary>Returns the value of a line in Prometheus's text format: it follows the labels, if there are any, and precedes the
    /// timestamp, if there is one.</summary>
    internal static double ValueOf(string line)
    {
        var name = line.LastIndexOf('}') is var labels and >= 0 ? labels : line.IndexOf(' ', StringComparison.Ordinal);
        return double.Parse(line[(name + 1)..].Split(' ', StringSplitOptions.RemoveEmptyEntries)[0], CultureInfo.InvariantCulture);
    }

    /// <summary>Divides by a number of payments.</summary>
    public RuntimeUse Per(double payments) => new(AllocatedBytes / payments, Gen0 / payments, Gen1 / payments, Gen2 / payments, PauseUs / payments);

    /// <summary>Adds two runtimes' counts.</summary>
    public static RuntimeUse operator +(RuntimeUse one, RuntimeUse other) => new(
        one.AllocatedBytes + other.AllocatedBytes, one.Gen0 + other.Gen0, one.Gen1 + other.Gen1, one.Gen2 + other.Gen2, one.PauseUs + other.PauseUs);

    /// <summary>Subtracts earlier counts.</summary>
    public static RuntimeUse operator -(RuntimeUse now, RuntimeUse before) => new(
        now.AllocatedBytes - before.AllocatedBytes, now.Gen0 - before.Gen0, now.Gen1 - before.Gen1, now.Gen2 - before.Gen2, now.PauseUs - before.PauseUs);
}
