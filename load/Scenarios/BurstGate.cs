namespace Billing.Scenarios;

/// <summary>Where the calls of a burst wait for one another: NBomber starts them one by one within a second. Safe from any
/// thread.</summary>
/// <param name="calls">How many there are.</param>
/// <param name="time">Bounds the wait.</param>
internal sealed class BurstGate(int calls, TimeProvider time)
{
    /// <summary>How long the first waits for the last; NBomber may be unable to start them all in time.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(3);

    private readonly TaskCompletionSource _opened = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _arrived;
    private long _openedAt;

    /// <summary>How long the gate has been open.</summary>
    public TimeSpan SinceOpened => time.GetElapsedTime(_openedAt);

    /// <summary>Waits until all calls have arrived.</summary>
    /// <param name="interrupt">Lets everyone through.</param>
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
