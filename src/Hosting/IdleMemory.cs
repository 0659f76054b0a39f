namespace Billing.Hosting;

/// <summary>Gives memory back to the machine after a burst. The garbage collector runs as objects are allocated,
/// so a process that becomes idle would keep what its busiest moment needed.</summary>
public sealed class IdleMemory : Worker
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(10);

    // In an interval. An idle process needs less for its timers and metrics, one that serves some calls a
    // second needs more.
    private const long IdleBytesMax = 4 << 20;

    private readonly TimeProvider _time;
    private readonly Func<long> _allocatedBytes;
    private readonly Action _collect;

    /// <summary>Watches this process.</summary>
    public IdleMemory(TimeProvider time, Supervisor supervisor)
        : this(
            time, supervisor, () => GC.GetTotalAllocatedBytes(),
            () => GC.Collect(GC.MaxGeneration, GCCollectionMode.Aggressive, blocking: true, compacting: true))
    {
    }

    internal IdleMemory(TimeProvider time, Supervisor supervisor, Func<long> allocatedBytes, Action collect)
        : base(supervisor) => (_time, _allocatedBytes, _collect) = (time, allocatedBytes, collect);

    /// <summary>Collects garbage once each time that the process becomes idle.</summary>
    public override async Task RunAsync(CancellationToken stopping)
    {
        using var timer = new PeriodicTimer(Interval, _time);
        var (allocated, wasBusy) = (_allocatedBytes(), true);
        while (await timer.WaitForNextTickAsync(stopping))
        {
            var now = _allocatedBytes();
            var isBusy = now - allocated > IdleBytesMax;
            if (wasBusy && !isBusy)
            {
                _collect();
            }
            (allocated, wasBusy) = (now, isBusy);
        }
    }
}
