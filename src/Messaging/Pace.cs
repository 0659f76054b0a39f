namespace Billing.Messaging;

/// <summary>Keeps the turns of a loop at least a window apart while the loop is busy, so that each turn finds more to do:
/// what a turn costs on top of its items (a round trip, a transaction, a request to a broker) is then shared by more of
/// them. A loop whose last turn found a single item is not held up: a lone caller waits for nobody.</summary>
/// <param name="window">The distance between the starts of two turns; zero switches pacing off.</param>
/// <param name="time">The clock.</param>
public sealed class Pace(TimeSpan window, TimeProvider time)
{
    private long _lastStart = long.MinValue;
    private int _lastItems;

    /// <summary>How long the next turn should wait before it takes what is there.</summary>
    public TimeSpan Wait
    {
        get
        {
            if (_lastItems <= 1 || window == TimeSpan.Zero)
            {
                return TimeSpan.Zero;
            }
            var left = window - time.GetElapsedTime(_lastStart);
            return left > TimeSpan.Zero ? left : TimeSpan.Zero;
        }
    }

    /// <summary>Waits for as long as <see cref="Wait"/> says.</summary>
    public Task WaitAsync(CancellationToken cancellationToken) =>
        Wait is var wait && wait > TimeSpan.Zero ? Task.Delay(wait, time, cancellationToken) : Task.CompletedTask;

    /// <summary>A turn starts, with so many items.</summary>
    public void Start(int items)
    {
        _lastStart = time.GetTimestamp();
        _lastItems = items;
    }
}
