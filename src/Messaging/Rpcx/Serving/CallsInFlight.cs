namespace Billing.Messaging.Rpcx.Serving;

/// <summary>The calls of one connection whose implementation has not ended. One that was cancelled or has expired is answered,
/// or needs no answer, but counts until its implementation ends: that is what is bounded.</summary>
/// <param name="max">How many there may be.</param>
internal sealed class CallsInFlight(int max)
{
    private readonly Lock _gate = new();
    private readonly Dictionary<ulong, ServerCall> _unanswered = [];
    private TaskCompletionSource? _roomMade;
    private TaskCompletionSource? _allEnded;
    private int _running;
    private bool _closed;

    /// <summary>Calls whose implementation has not ended.</summary>
    public int Count => Volatile.Read(ref _running);

    /// <summary>Whether there is room for one more.</summary>
    public bool HasRoom => Count < max;

    /// <summary>Enters a call.</summary>
    /// <returns>False where its id is in use, or the connection is closed.</returns>
    public bool TryEnter(ServerCall call)
    {
        lock (_gate)
        {
            if (_closed || !_unanswered.TryAdd(call.Id, call))
            {
                return false;
            }
            call.IsEntered = true;
            _running++;
            return true;
        }
    }

    /// <summary>Takes a call out, for the one who answers or cancels it.</summary>
    public ServerCall? Take(ulong id)
    {
        lock (_gate)
        {
            return _unanswered.Remove(id, out var call) ? call : null;
        }
    }

    /// <summary>An entered call's implementation has ended.</summary>
    /// <returns>Whether its answer is still wanted.</returns>
    public bool TryEnd(ServerCall call)
    {
        bool wanted;
        TaskCompletionSource? roomMade;
        TaskCompletionSource? allEnded = null;
        lock (_gate)
        {
            wanted = _unanswered.TryGetValue(call.Id, out var entered) && entered == call && _unanswered.Remove(call.Id);
            _running--;
            (roomMade, _roomMade) = (_roomMade, null);
            if (_running == 0)
            {
                (allEnded, _allEnded) = (_allEnded, null);
            }
        }
        roomMade?.TrySetResult();
        allEnded?.TrySetResult();
        return wanted;
    }

    /// <summary>Takes out the calls that are due.</summary>
    /// <param name="now">The present timestamp.</param>
    /// <param name="overdue">Gets them.</param>
    /// <returns>When the next one is.</returns>
    public long TakeOverdue(long now, List<ServerCall> overdue)
    {
        var next = CallClock.Never;
        lock (_gate)
        {
            foreach (var call in _unanswered.Values)
            {
                if (call.DueAt <= now)
                {
                    overdue.Add(call);
                }
                else
                {
                    next = Math.Min(next, call.DueAt);
                }
            }
            overdue.ForEach(call => _unanswered.Remove(call.Id));
        }
        return next;
    }

    /// <summary>Takes out all calls, and takes no more.</summary>
    public List<ServerCall> Close()
    {
        TaskCompletionSource? roomMade;
        List<ServerCall> calls;
        lock (_gate)
        {
            _closed = true;
            calls = [.. _unanswered.Values];
            _unanswered.Clear();
            (roomMade, _roomMade) = (_roomMade, null);
        }
        roomMade?.TrySetResult();
        return calls;
    }

    /// <summary>Completes when there may be room, or no call is taken any more. For one waiter.</summary>
    public Task RoomAsync()
    {
        lock (_gate)
        {
            return HasRoom || _closed ? Task.CompletedTask : (_roomMade ??= Signal()).Task;
        }
    }

    /// <summary>Completes when every implementation has ended.</summary>
    public Task EndedAsync()
    {
        lock (_gate)
        {
            return _running == 0 ? Task.CompletedTask : (_allEnded ??= Signal()).Task;
        }
    }

    private static TaskCompletionSource Signal() => new(TaskCreationOptions.RunContinuationsAsynchronously);
}
