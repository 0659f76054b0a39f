namespace Billing.Messaging.Kafka.Clients;

/// <summary>Sends records in turns: all that have accumulated since the last turn, when that one has been acknowledged,
/// but no more than the producer has room for; the rest waits for the next turn. An idempotent producer of librdkafka
/// would do the same, but polls its socket without a pause until then
/// (docs/decisions/0031-events-are-sent-in-turns.md). Thread-safe.</summary>
/// <param name="send">Sends a record, in the order of the calls of <see cref="Send"/>; not concurrently.</param>
/// <param name="bytesOf">The size of a record, in bytes.</param>
/// <param name="time">The clock.</param>
internal sealed class TurnSender<T>(Action<T> send, Func<T, int> bytesOf, TimeProvider time)
{
    /// <summary>The most bytes in flight, but for a single record that is larger. A producer copies them to memory
    /// outside the heap; a record for which it has no room fails, and an event that fails ends the process.</summary>
    public const int BytesMax = 16 << 20;

    private readonly Lock _gate = new();
    private List<T> _waiting = [];
    private int _inFlight;

    // Of all records since none was in flight.
    private long _bytes;
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
            if (--_inFlight == 0)
            {
                _bytes = 0;
                if (_waiting.Count > 0)
                {
                    Begin();
                }
            }
        }
    }

    private void Begin()
    {
        var count = CountOfTurn();
        if (count == 0)
        {
            return;
        }
        var turn = _waiting;
        _waiting = count == turn.Count ? [] : turn[count..];
        turn.RemoveRange(count, turn.Count - count);
        _inFlight += count;
        _began = time.GetTimestamp();
        turn.ForEach(send);
    }

    private int CountOfTurn()
    {
        var count = 0;
        for (; count < _waiting.Count; count++)
        {
            var bytes = bytesOf(_waiting[count]);
            if (_bytes > 0 && _bytes + bytes > BytesMax)
            {
                break;
            }
            _bytes += bytes;
        }
        return count;
    }
}
