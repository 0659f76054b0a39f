namespace Billing.Messaging.Kafka.Clients;

/// <summary>Sends records in turns: all that have accumulated since the last turn, when that one has been acknowledged.
/// An idempotent producer of librdkafka would do the same, but polls its socket without a pause until then
/// (docs/decisions/0031-events-are-sent-in-turns.md). Thread-safe.</summary>
/// <param name="send">Sends a record, in the order of the calls of <see cref="Send"/>; not concurrently.</param>
/// <param name="time">The clock.</param>
internal sealed class TurnSender<T>(Action<T> send, TimeProvider time)
{
    private readonly Lock _gate = new();
    private List<T> _waiting = [];
    private int _inFlight;
    private long _began;

    /// <summary>Sends records, or keeps them for the next turn.</summary>
    public void Send(IEnumerable<T> records)
    {
        lock (_gate)
        {
            _waiting.AddRange(records);
            if (_inFlight == 0 || time.GetElapsedTime(_began) >= KafkaTimes.Turn)
            {
                Begin();
            }
        }
    }

    /// <summary>Notes that a record has been acknowledged or has failed.</summary>
    public void End()
    {
        lock (_gate)
        {
            if (--_inFlight == 0 && _waiting.Count > 0)
            {
                Begin();
            }
        }
    }

    private void Begin()
    {
        var turn = _waiting;
        _waiting = [];
        _inFlight += turn.Count;
        _began = time.GetTimestamp();
        turn.ForEach(send);
    }
}
