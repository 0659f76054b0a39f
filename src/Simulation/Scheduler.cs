namespace Billing.Simulation;

/// <summary>Simulated time, and whatever happens in it: one thread takes one thing after another, what is due in the order of
/// time, and what is ready at the same moment in an order that the seed decides. Between any two of them a node may crash.
/// </summary>
/// <param name="dice">Decides the order.</param>
internal sealed class Scheduler(Dice dice)
{
    // A run that does so much has found a loop without an end.
    private const int StepsMax = 3_000_000;

    private readonly int _thread = Environment.CurrentManagedThreadId;
    private readonly PriorityQueue<Due, (long At, long Number)> _due = new();
    private readonly List<Ready> _ready = [];
    private long _numbers;
    private int _steps;
    private volatile bool _ended;

    /// <summary>The present moment, in ticks of 100 ns since the run began.</summary>
    public long Now { get; private set; }

    /// <summary>Steps taken so far.</summary>
    public int Steps => _steps;

    /// <summary>Has work done as soon as possible, by a node, unless it has crashed by then.</summary>
    public void Post(Node? node, SendOrPostCallback work, object? state)
    {
        if (_ended)
        {
            // By a finalizer.
            return;
        }
        CheckThread();
        _ready.Add(new Ready(node, work, state));
    }

    /// <summary>Has work done later, by a node, unless it has crashed by then.</summary>
    /// <returns>Dispose of it and the work is not done.</returns>
    public Due After(TimeSpan delay, Node? node, Action work)
    {
        var due = new Due(node, work);
        At(Now + Math.Max(0, delay.Ticks), due);
        return due;
    }

    /// <summary>Enters something at a moment.</summary>
    public void At(long moment, Due due)
    {
        CheckThread();
        _due.Enqueue(due, (moment, _numbers++));
    }

    /// <summary>Lets time pass. What is ready is done first, also when that is called by something that is being done.
    /// </summary>
    public void Run(TimeSpan time) => RunUntil(Now + time.Ticks);

    /// <summary>Lets time pass until a moment, or until something holds.</summary>
    public void RunUntil(long moment, Func<bool>? holds = null)
    {
        while (holds?.Invoke() != true && Step(moment))
        {
            if (++_steps > StepsMax)
            {
                throw new SimulationException("Something is done again and again without an end.");
            }
        }
    }

    /// <summary>Does nothing any more.</summary>
    public void End() => _ended = true;

    private void CheckThread()
    {
        if (Environment.CurrentManagedThreadId != _thread)
        {
            Environment.FailFast("Something that is simulated ran on another thread: " + Environment.StackTrace);
        }
    }

    private bool Step(long moment)
    {
        if (_ready.Count > 0)
        {
            DoOneReady();
            return true;
        }
        if (!_due.TryPeek(out _, out var next) || next.At > moment)
        {
            Now = Math.Max(Now, moment);
            return false;
        }
        var due = _due.Dequeue();
        Now = Math.Max(Now, next.At);
        if (due.IsCancelled)
        {
            return true;
        }
        if (due.Node is null)
        {
            due.Work();
        }
        else if (due.Node.FrozenUntil > Now)
        {
            At(due.Node.FrozenUntil, due);
        }
        else
        {
            due.Node.Run(due.Work);
        }
        return true;
    }

    private void DoOneReady()
    {
        var index = _ready.Count == 1 ? 0 : dice.Next(_ready.Count);
        var ready = _ready[index];
        _ready[index] = _ready[^1];
        _ready.RemoveAt(_ready.Count - 1);
        if (ready.Node is null)
        {
            ready.Work(ready.State);
        }
        else if (ready.Node.FrozenUntil > Now)
        {
            At(ready.Node.FrozenUntil, new Due(ready.Node, () => ready.Work(ready.State)));
        }
        else
        {
            ready.Node.Run(() => ready.Work(ready.State));
        }
    }

    private readonly record struct Ready(Node? Node, SendOrPostCallback Work, object? State);
}

/// <summary>Work that is due at some moment.</summary>
/// <param name="node">Who does it; null for the world outside of the platform's processes.</param>
/// <param name="work">The work.</param>
internal sealed class Due(Node? node, Action work) : IDisposable
{
    /// <summary>Who does it.</summary>
    public Node? Node => node;

    /// <summary>The work.</summary>
    public Action Work => work;

    /// <summary>Whether it is not to be done after all.</summary>
    public bool IsCancelled { get; private set; }

    /// <inheritdoc/>
    public void Dispose() => IsCancelled = true;
}

/// <summary>Something went wrong in a run that no run may do.</summary>
/// <param name="message">What.</param>
internal sealed class SimulationException(string message) : Exception(message);
