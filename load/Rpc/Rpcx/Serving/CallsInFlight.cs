namespace Billing.Rpc.Rpcx.Serving;

/// <summary>The calls of one connection whose implementation is still running. A call that was cancelled or has expired needs
/// no further answer, but counts until its implementation ends, because the limit applies to running implementations.</summary>
/// <param name="max">The maximum number of calls.</param>
internal sealed class CallsInFlight(int max)
{
    private readonly Lock _gate = new();
    private readonly Dictionary<ulong, ServerCall> _unanswered = [];
    private TaskCompletionSource? _roomMade;
    private TaskCompletionSource? _allEnded;
    private int _running;
    private bool _closed;

    /// <summary>Number of calls whose implementation is still running.</summary>
    public int Count => Volatile.Read(ref _running);

    /// <summary>Whether another call is allowed.</summary>
    public bool HasCapacity => Count < max;

    /// <summary>Adds a call.</summary>
    /// <returns>False if its id is in use or the connection is closed.</returns>
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

    /// <summary>Removes a call, so that only one thread answers or cancels it.</summary>
    public ServerCall? Take(ulong id)
    {
        lock (_gate)
        {
            return _unanswered.Remove(id, out var call) ? call : null;
        }
    }

    /// <summary>Records that the implementation of an added call has ended.</summary>
    /// <returns>Whether its answer must still be sent.</returns>
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

    /// <summary>Removes the calls whose deadlines have passed.</summary>
    /// <param name="now">The current timestamp.</param>
    /// <param name="overdue">Receives the removed calls.</param>
    /// <returns>The earliest deadline of the remaining calls.</returns>
    public long RemoveOverdue(long now, List<ServerCall> overdue)
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

    /// <summary>Removes all calls and accepts no more.</summary>
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

    /// <summary>Completes when another call may be allowed, or the connection is closed. For one waiter.</summary>
    public Task WaitForCapacityAsync()
    {
        lock (_gate)
        {
            return HasCapacity || _closed ? Task.CompletedTask : (_roomMade ??= Signal()).Task;
        }
    }

    /// <summary>Completes when no implementation is running.</summary>
    public Task EndedAsync()
    {
        lock (_gate)
        {
            return _running == 0 ? Task.CompletedTask : (_allEnded ??= Signal()).Task;
        }
    }

    private static TaskCompletionSource Signal() => new(TaskCreationOptions.RunContinuationsAsynchronously);
}
