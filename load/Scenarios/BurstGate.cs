namespace Billing.Scenarios;

/// <summary>Lets the calls of a burst wait for one another, because NBomber starts them one by one within a second.
/// Thread-safe.</summary>
/// <param name="time">The clock for the longest wait.</param>
internal sealed class BurstGate(int calls, TimeProvider time)
{
    /// <summary>The longest time that the first call waits for the last; NBomber may be unable to start
    /// them all in time.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(3);

    private readonly TaskCompletionSource _opened = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _arrived;
    private long _openedAt;

    /// <summary>The time since the gate was opened.</summary>
    public TimeSpan SinceOpened => time.GetElapsedTime(_openedAt);

    /// <summary>Waits until all calls have arrived.</summary>
    /// <param name="interrupt">Opens the gate.</param>
    public async Task WaitForAllAsync(CancellationToken interrupt)
    {
        var arrived = Interlocked.Increment(ref _arrived);
        if (arrived == calls)
        {
            Open();
        }
        else if (arrived == 1)
        {
            await Task.WhenAny(_opened.Task, Task.Delay(Patience, time, interrupt));
            Open();
        }
        await _opened.Task;
    }

    private void Open()
    {
        Interlocked.CompareExchange(ref _openedAt, time.GetTimestamp(), 0);
        _opened.TrySetResult();
    }
}
