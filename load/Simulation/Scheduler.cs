namespace Billing.Simulation;

/// <summary>The scheduler of simulated time. One thread executes one piece of work after another: timed work in the
/// order of time, and work that is ready at the same moment in a random order that the seed determines. A node may
/// crash between any two of them.</summary>
/// <param name="dice">Decides the order.</param>
internal sealed class Scheduler(Dice dice)
{
    // A run with so many steps is in an endless loop.
    private const int StepsMax = 3_000_000;

    private readonly int _thread = Environment.CurrentManagedThreadId;
    private readonly PriorityQueue<Due, (long At, long Number)> _due = new();
    private readonly List<Due> _ready = [];
    private long _numbers;
    private volatile bool _ended;

    /// <summary>The current simulated time, in ticks of 100 ns since the start of the run.</summary>
    public long Now { get; private set; }

    /// <summary>Steps taken so far.</summary>
    public int Steps { get; private set; }

    /// <summary>Schedules work as soon as possible, on a node, unless it has crashed by then.</summary>
    public void Post(Node node, Action work)
    {
        if (HasEnded)
        {
            return;
        }
        CheckThread();
        _ready.Add(new Due(node, work));
    }

    /// <summary>Schedules work after a delay, on a node, unless it has crashed by then.</summary>
    /// <returns>Dispose of it to cancel the work.</returns>
    public Due After(TimeSpan delay, Node? node, Action work)
    {
        var due = new Due(node, work);
        At(Now + Math.Max(0, delay.Ticks), due);
        return due;
    }

    /// <summary>Schedules work at a moment.</summary>
    public void At(long moment, Due due)
    {
        CheckThread();
        _due.Enqueue(due, (moment, _numbers++));
    }

    /// <summary>Lets time pass. Work that is ready is executed first. May be called from within other work.</summary>
    public void Run(TimeSpan time) => RunUntil(Now + time.Ticks);

    /// <summary>Lets time pass until a moment, or until a condition holds.</summary>
    public void RunUntil(long moment, Func<bool>? holds = null)
    {
        while (holds?.Invoke() != true && Step(moment))
        {
            if (++Steps > StepsMax)
            {
                throw new SimulationException("The run does not end: it has exceeded its number of steps.");
            }
        }
    }

    /// <summary>Whether the run has ended: whatever is posted now comes from finalizers.</summary>
    public bool HasEnded => _ended;

    /// <summary>Ends the run: work posted from now on is ignored.</summary>
    public void End() => _ended = true;

    private void CheckThread()
    {
        if (Environment.CurrentManagedThreadId != _thread)
        {
            Environment.FailFast("Simulated work ran on another thread: " + Environment.StackTrace);
        }
    }

    private bool Step(long moment)
    {
        if (_ready.Count > 0)
        {
            Execute(TakeOneReady());
            return true;
        }
        if (!_due.TryPeek(out var due, out var next) || next.At > moment)
        {
            Now = Math.Max(Now, moment);
            return false;
        }
        _due.Dequeue();
        Now = Math.Max(Now, next.At);
        if (!due.IsCancelled)
        {
            Execute(due);
        }
        return true;
    }

    private Due TakeOneReady()
    {
        var index = _ready.Count == 1 ? 0 : dice.Next(_ready.Count);
        var ready = _ready[index];
        _ready[index] = _ready[^1];
        _ready.RemoveAt(_ready.Count - 1);
        return ready;
    }

    private void Execute(Due due)
    {
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
    }
}

/// <summary>Work of a process, or of the world outside the platform's processes.</summary>
internal sealed class Due(Node? node, Action work) : IDisposable
{
    public Node? Node => node;

    public Action Work => work;

    public bool IsCancelled { get; private set; }

    public void Dispose() => IsCancelled = true;
}

/// <summary>A run has violated a rule that must hold in every run.</summary>
internal sealed class SimulationException(string message) : Exception(message);
