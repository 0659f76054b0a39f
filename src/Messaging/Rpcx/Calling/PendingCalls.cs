namespace Billing.Messaging.Rpcx.Calling;

/// <summary>The calls of one connection that wait for a reply, by call id. An id names a place in an array, which is used again,
/// and how often it was, so that an answer that comes late finds nobody. Entering and taking a call allocates nothing.</summary>
internal sealed class PendingCalls
{
    private const int PlacesAtFirst = 64;

    private readonly Lock _gate = new();
    private Place[] _places = new Place[PlacesAtFirst];
    private int _used;
    private int _freed = -1;
    private bool _closed;

    /// <summary>Calls that wait now.</summary>
    public int Count { get; private set; }

    /// <summary>Enters a call. Before it is sent: its reply may be faster than the sender.</summary>
    /// <param name="call">The call.</param>
    /// <param name="dueAt">The timestamp at which it is given up.</param>
    /// <param name="id">Its id, never 0.</param>
    /// <returns>False where the connection is closed.</returns>
    public bool TryEnter(IPendingCall call, long dueAt, out ulong id)
    {
        lock (_gate)
        {
            if (_closed)
            {
                id = 0;
                return false;
            }
            var index = FreePlace();
            ref var place = ref _places[index];
            place.Call = call;
            place.DueAt = dueAt;
            place.Uses++;
            Count++;
            id = Id(index, place.Uses);
            return true;
        }
    }

    /// <summary>Takes a call out, for the one who ends it.</summary>
    /// <returns>Null where nobody waits under this id any more.</returns>
    public IPendingCall? Take(ulong id)
    {
        var index = (uint)id - 1;
        lock (_gate)
        {
            if (index >= (uint)_used || _places[index].Call is null || _places[index].Uses != (uint)(id >> 32))
            {
                return null;
            }
            return TakeAt((int)index);
        }
    }

    /// <summary>Takes out the calls that are due.</summary>
    /// <param name="now">The present timestamp.</param>
    /// <param name="overdue">Gets them, with their ids.</param>
    /// <returns>When the next one is.</returns>
    public long TakeOverdue(long now, List<(ulong Id, IPendingCall Call)> overdue)
    {
        var next = CallClock.Never;
        lock (_gate)
        {
            for (var index = 0; index < _used; index++)
            {
                ref var place = ref _places[index];
                if (place.Call is null)
                {
                    continue;
                }
                if (place.DueAt <= now)
                {
                    overdue.Add((Id(index, place.Uses), TakeAt(index)));
                }
                else
                {
                    next = Math.Min(next, place.DueAt);
                }
            }
        }
        return next;
    }

    /// <summary>Takes all calls out, and takes no more.</summary>
    public List<IPendingCall> Close()
    {
        var calls = new List<IPendingCall>();
        lock (_gate)
        {
            _closed = true;
            for (var index = 0; index < _used; index++)
            {
                if (_places[index].Call is not null)
                {
                    calls.Add(TakeAt(index));
                }
            }
        }
        return calls;
    }

    private static ulong Id(int index, uint uses) => ((ulong)uses << 32) | ((uint)index + 1);

    private int FreePlace()
    {
        if (_freed >= 0)
        {
            var index = _freed;
            _freed = _places[index].NextFreed;
            return index;
        }
        if (_used == _places.Length)
        {
            Array.Resize(ref _places, _places.Length * 2);
        }
        return _used++;
    }

    private IPendingCall TakeAt(int index)
    {
        ref var place = ref _places[index];
        var call = place.Call!;
        place.Call = null;
        place.NextFreed = _freed;
        _freed = index;
        Count--;
        return call;
    }

    private struct Place
    {
        public IPendingCall? Call;
        public long DueAt;
        public uint Uses;
        public int NextFreed;
    }
}
