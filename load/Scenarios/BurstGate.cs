namespace Billing.Scenarios;

/// <summary>Holds the calls of a burst until all have arrived, because NBomber starts them one by one within a second.
/// Thread-safe.</summary>
/// <param name="calls">Number of calls.</param>
/// <param name="time">The clock for the wait.</param>
internal sealed class BurstGate(int calls, TimeProvider time)
{
    /// <summary>The longest time that the first call waits for the last; NBomber may be unable to start all of them in time.
    /// </summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(3);

    private readonly TaskCompletionSource _opened = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _arrived;
    private long _openedAt;

    /// <summary>Time since the gate was opened.</summary>
    public TimeSpan SinceOpened => time.GetElapsedTime(_openedAt);

    /// <summary>Waits until all calls have arrived.</summary>
    /// <param name="interrupt">Opens the gate for all calls.</param>
    public async Task ArriveAsync(CancellationToken interrupt)
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
