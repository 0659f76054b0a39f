namespace Billing.Rpc.Rpcx.Calling;

/// <summary>The calls of one connection that are waiting for a reply, by call id. An id consists of the index of an array
/// entry, which is reused, and of the number of its uses, so that a late reply does not match a later call. Adding and removing
/// a call allocates nothing.</summary>
internal sealed class PendingCalls
{
    private const int InitialEntries = 64;

    private readonly Lock _gate = new();
    private Entry[] _entries = new Entry[InitialEntries];
    private int _used;
    private int _firstFree = -1;
    private bool _closed;

    /// <summary>Number of calls that are waiting.</summary>
    public int Count { get; private set; }

    /// <summary>Adds a call. To be called before it is sent, because the reply may arrive before sending returns.</summary>
    /// <param name="call">The call.</param>
    /// <param name="dueAt">Its deadline, as a timestamp.</param>
    /// <param name="id">Its id, never 0.</param>
    /// <returns>False if the connection is closed.</returns>
    public bool TryEnter(IPendingCall call, long dueAt, out ulong id)
    {
        lock (_gate)
        {
            if (_closed)
            {
                id = 0;
                return false;
            }
            var index = FreeEntry();
            ref var entry = ref _entries[index];
            entry.Call = call;
            entry.DueAt = dueAt;
            entry.Uses++;
            Count++;
            id = Id(index, entry.Uses);
            return true;
        }
    }

    /// <summary>Removes a call, so that only one thread ends it.</summary>
    /// <returns>Null if no call is waiting under this id.</returns>
    public IPendingCall? Take(ulong id)
    {
        var index = (uint)id - 1;
        lock (_gate)
        {
            if (index >= (uint)_used || _entries[index].Call is null || _entries[index].Uses != (uint)(id >> 32))
            {
                return null;
            }
            return TakeAt((int)index);
        }
    }

    /// <summary>Removes the calls whose deadlines have passed.</summary>
    /// <param name="now">The current timestamp.</param>
    /// <param name="overdue">Receives the removed calls, with their ids.</param>
    /// <returns>The earliest deadline of the remaining calls.</returns>
    public long RemoveOverdue(long now, List<(ulong Id, IPendingCall Call)> overdue)
    {
        var next = CallClock.Never;
        lock (_gate)
        {
            for (var index = 0; index < _used; index++)
            {
                ref var entry = ref _entries[index];
                if (entry.Call is null)
                {
                    continue;
                }
                if (entry.DueAt <= now)
                {
                    overdue.Add((Id(index, entry.Uses), TakeAt(index)));
                }
                else
                {
                    next = Math.Min(next, entry.DueAt);
                }
            }
        }
        return next;
    }

    /// <summary>Removes all calls and accepts no more.</summary>
    public List<IPendingCall> Close()
    {
        var calls = new List<IPendingCall>();
        lock (_gate)
        {
            _closed = true;
            for (var index = 0; index < _used; index++)
            {
                if (_entries[index].Call is not null)
                {
                    calls.Add(TakeAt(index));
                }
            }
        }
        return calls;
    }

    private static ulong Id(int index, uint uses) => ((ulong)uses << 32) | ((uint)index + 1);

    private int FreeEntry()
    {
        if (_firstFree >= 0)
        {
            var index = _firstFree;
            _firstFree = _entries[index].NextFree;
            return index;
        }
        if (_used == _entries.Length)
        {
            Array.Resize(ref _entries, _entries.Length * 2);
        }
        return _used++;
    }

    private IPendingCall TakeAt(int index)
    {
        ref var entry = ref _entries[index];
        var call = entry.Call!;
        entry.Call = null;
        entry.NextFree = _firstFree;
        _firstFree = index;
        Count--;
        return call;
    }

    private struct Entry
    {
        public IPendingCall? Call;
        public long DueAt;
        public uint Uses;
        public int NextFree;
    }
}
