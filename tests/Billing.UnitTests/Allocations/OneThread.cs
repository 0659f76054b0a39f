namespace Billing.UnitTests.Allocations;

/// <summary>Runs asynchronous work on its caller's thread alone, as a synchronisation context: what the work allocates is what
/// that thread allocates, whatever other tests do at the same time.</summary>
internal sealed class OneThread : SynchronizationContext
{
    private readonly Queue<(SendOrPostCallback Work, object? State)> _posted = new();
    private readonly int _thread = Environment.CurrentManagedThreadId;

    /// <summary>Does something, and whatever follows from it.</summary>
    public void Run(Action work)
    {
        var previous = Current;
        SetSynchronizationContext(this);
        try
        {
            work();
            while (_posted.TryDequeue(out var next))
            {
                next.Work(next.State);
            }
        }
        finally
        {
            SetSynchronizationContext(previous);
        }
    }

    /// <summary>The bytes that a round allocates for each of its payments: the median of many rounds, after some that let the
    /// runtime compile, and tables grow.</summary>
    /// <param name="payments">Payments of a round.</param>
    /// <param name="round">A round, given its number.</param>
    public double BytesForOne(int payments, Action<int> round)
    {
        const int WarmUp = 20;
        const int Rounds = 101;
        var bytes = new List<double>(Rounds);
        for (var number = 0; number < WarmUp + Rounds; number++)
        {
            var before = GC.GetAllocatedBytesForCurrentThread();
            Run(() => round(number));
            if (number >= WarmUp)
            {
                bytes.Add((GC.GetAllocatedBytesForCurrentThread() - before) / (double)payments);
            }
        }
        bytes.Sort();
        return bytes[Rounds / 2];
    }

    /// <inheritdoc/>
    public override void Post(SendOrPostCallback d, object? state)
    {
        Assert.Equal(_thread, Environment.CurrentManagedThreadId);
        _posted.Enqueue((d, state));
    }
}
