namespace NBomber.Domain;

/// <summary>Counts the calls that are under way.</summary>
internal sealed class InFlight
{
    private readonly Lock _gate = new();
    private TaskCompletionSource _idle = Done();
    private int _count;

    public int Count
    {
        get
        {
            lock (_gate)
            {
                return _count;
            }
        }
    }

    public void Enter()
    {
        lock (_gate)
        {
            if (_count++ == 0)
            {
                _idle = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            }
        }
    }

    public void Leave()
    {
        lock (_gate)
        {
            if (--_count == 0)
            {
                _idle.SetResult();
            }
        }
    }

    public Task IdleAsync()
    {
        lock (_gate)
        {
            return _idle.Task;
        }
    }

    private static TaskCompletionSource Done()
    {
        var done = new TaskCompletionSource();
        done.SetResult();
        return done;
    }
}
