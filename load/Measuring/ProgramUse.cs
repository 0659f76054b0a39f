using System.Globalization;

namespace Billing.Measuring;

/// <summary>What the programs of one role used over some time, together; or for one payment, see <see cref="Per"/>.</summary>
/// <param name="Role">What they do, e.g. <c>proxy</c>.</param>
/// <param name="Processes">How many there were at the end.</param>
/// <param name="UserUs">Processor microseconds in their own code.</param>
/// <param name="KernelUs">Processor microseconds in the kernel's.</param>
/// <param name="VoluntarySwitches">How often a thread gave its processor up, to wait.</param>
/// <param name="ForcedSwitches">How often one was taken off it.</param>
/// <param name="MemoryMb">Resident memory at the end in 10^6 bytes, what processes share counted once; null where it may not be
/// looked at.</param>
/// <param name="Threads">Threads by name, the dearest first; without those that ended meanwhile.</param>
public sealed record ProgramUse(
    string Role, int Processes, double UserUs, double KernelUs, double VoluntarySwitches, double ForcedSwitches, double? MemoryMb,
    IReadOnlyList<ThreadUse> Threads)
{
    /// <summary>What their .NET runtimes did; null for programs that have none, or say nothing of it.</summary>
    public RuntimeUse? Runtime { get; init; }

    /// <summary>For one of so many payments; memory and counts of processes and threads stay what they are.</summary>
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

/// <summary>What the threads of one name used.</summary>
/// <param name="Name">The name, of 15 characters at most.</param>
/// <param name="Count">How many there were.</param>
/// <param name="UserUs">Processor microseconds in the program's own code.</param>
/// <param name="KernelUs">Processor microseconds in the kernel's.</param>
public sealed record ThreadUse(string Name, int Count, double UserUs, double KernelUs);

/// <summary>What .NET runtimes counted.</summary>
/// <param name="AllocatedBytes">Bytes allocated.</param>
/// <param name="Gen0">Collections of the youngest generation alone.</param>
/// <param name="Gen1">Collections up to the second.</param>
/// <param name="Gen2">Collections of everything.</param>
/// <param name="PauseUs">Microseconds in which collections let nothing else run.</param>
public sealed record RuntimeUse(double AllocatedBytes, double Gen0, double Gen1, double Gen2, double PauseUs)
{
    private const string Collections = "dotnet_gc_collections_total";

    /// <summary>What this process counted since it started.</summary>
    public static RuntimeUse OfThisProcess() => new(
        GC.GetTotalAllocatedBytes(), GC.CollectionCount(0) - GC.CollectionCount(1), GC.CollectionCount(1) - GC.CollectionCount(2),
        GC.CollectionCount(2), GC.GetTotalPauseDuration().TotalMicroseconds);

    /// <summary>Reads the meter System.Runtime from Prometheus' text format, which a service exposes.</summary>
    /// <returns>Null where the text has none of it.</returns>
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

    // Behind the labels, where there are some, and before the time, where that is told.
    private static double ValueOf(string line)
    {
        var name = line.LastIndexOf('}') is var labels and >= 0 ? labels : line.IndexOf(' ', StringComparison.Ordinal);
        return double.Parse(line[(name + 1)..].Split(' ', StringSplitOptions.RemoveEmptyEntries)[0], CultureInfo.InvariantCulture);
    }

    /// <summary>For one of so many payments.</summary>
    public RuntimeUse Per(double payments) => new(AllocatedBytes / payments, Gen0 / payments, Gen1 / payments, Gen2 / payments, PauseUs / payments);

    /// <summary>Two together.</summary>
    public static RuntimeUse operator +(RuntimeUse one, RuntimeUse other) => new(
        one.AllocatedBytes + other.AllocatedBytes, one.Gen0 + other.Gen0, one.Gen1 + other.Gen1, one.Gen2 + other.Gen2, one.PauseUs + other.PauseUs);

    /// <summary>What has been added since.</summary>
    public static RuntimeUse operator -(RuntimeUse now, RuntimeUse before) => new(
        now.AllocatedBytes - before.AllocatedBytes, now.Gen0 - before.Gen0, now.Gen1 - before.Gen1, now.Gen2 - before.Gen2, now.PauseUs - before.PauseUs);
}
