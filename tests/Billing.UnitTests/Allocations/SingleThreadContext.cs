namespace Billing.UnitTests.Allocations;

/// <summary>A synchronisation context that runs asynchronous work only on the caller's thread. The allocations of that
/// thread are then those of the work, even if other tests run at the same time.</summary>
internal sealed class SingleThreadContext : SynchronizationContext
{
    private readonly Queue<(SendOrPostCallback Work, object? State)> _posted = new();
    private readonly int _thread = Environment.CurrentManagedThreadId;

    /// <summary>Runs the work and all its continuations.</summary>
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

    /// <summary>Measures the bytes that a round allocates per payment: the median of many rounds, after warm-up rounds
    /// in which code is compiled and collections grow.</summary>
    /// <param name="payments">Number of payments of a round.</param>
    /// <param name="round">Runs the round with the given number.</param>
    public double BytesPerPayment(int payments, Action<int> round)
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
