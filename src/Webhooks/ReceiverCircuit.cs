namespace Billing.Webhooks;

/// <summary>Whether a receiver takes anything at all. One that fails for account after account gets a
/// single event at a time, each after the first wait of an event or what the receiver asks for, until it
/// takes one. Not thread-safe.</summary>
internal sealed class ReceiverCircuit(RetrySchedule schedule, TimeProvider time)
{
    // So many accounts have failed since an event was taken. Fewer may just have events that the receiver cannot take.
    private const int AccountsMax = 10;

    private readonly HashSet<string> _failed = new(StringComparer.Ordinal);
    private long _since;
    private TimeSpan _wait;

    /// <summary>Whether one event is sent at a time.</summary>
    public bool IsOpen => _failed.Count >= AccountsMax;

    /// <summary>How many deliveries may begin now.</summary>
    /// <param name="running">The deliveries that are running.</param>
    /// <param name="max">The most deliveries at a time.</param>
    public int Free(int running, int max) =>
        !IsOpen ? max - running : running == 0 && time.GetElapsedTime(_since) >= _wait ? 1 : 0;

    /// <summary>Takes note of a delivery that has ended.</summary>
    /// <returns>Whether one event is sent at a time from now on, unlike before.</returns>
    public bool Note(DeliveryOutcome outcome)
    {
        if (outcome.Delivered.Count > 0)
        {
            _failed.Clear();
        }
        if (outcome.Failure is not { } failure)
        {
            return false;
        }
        (_since, _wait) = (time.GetTimestamp(), schedule.After(1, failure.RetryAfter));
        return !IsOpen && _failed.Add(outcome.StreamId) && IsOpen;
    }
}
