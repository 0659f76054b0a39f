using Billing.Hosting;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Billing.Simulation;

/// <summary>One simulated process, from its start to its crash. It is the synchronisation context of its
/// asynchronous work, and its timers are those of the scheduler. After a crash none of its work continues: each
/// stops at its current await.</summary>
internal sealed class Node : SynchronizationContext, IHostApplicationLifetime, ILogger<Supervisor>
{
    private readonly Scheduler _scheduler;
    private readonly List<Action> _crashed = [];
    private Action? _atStep;
    private int _steps;

    /// <param name="name">Its name in traces.</param>
    /// <param name="scheduler">The scheduler of its work.</param>
    /// <param name="isSteady">Whether its clock is a <see cref="SteadyTime"/>, as that of the services is;
    /// without it a run is shorter, and its wall clock may not be set.</param>
    public Node(string name, Scheduler scheduler, bool isSteady = false)
    {
        Name = name;
        _scheduler = scheduler;
        ToBrokers = new Link(scheduler);
        ToStore = new Link(scheduler);
        var wall = new NodeTime(this, scheduler);
        Time = isSteady ? new SteadyTime(wall) : wall;
        Supervisor = new Supervisor(this, this);
    }

    /// <summary>The right time at a moment of a run.</summary>
    public static DateTimeOffset TimeOf(long moment) =>
        new DateTimeOffset(2026, 1, 31, 12, 0, 0, TimeSpan.Zero).AddTicks(moment);

    /// <summary>Its name in traces.</summary>
    public string Name { get; }

    /// <summary>Whether it has not crashed.</summary>
    public bool IsAlive { get; private set; } = true;

    /// <summary>Whether it is shutting down by itself after a request to stop.</summary>
    public bool IsStopping { get; set; }

    /// <summary>Until when it does nothing, as after SIGSTOP.</summary>
    public long FrozenUntil { get; set; }

    /// <summary>Its connection to the brokers.</summary>
    public Link ToBrokers { get; }

    /// <summary>Its connection to the event store.</summary>
    public Link ToStore { get; }

    /// <summary>Whether it is cut off from the brokers for ever, so that others have to do its work.</summary>
    public bool IsIsolated { get; set; }

    /// <summary>Whether it is an older release, which does not know some events.</summary>
    public bool IsOlder { get; set; }

    /// <summary>By how much its wall clock is ahead of the others'.</summary>
    public TimeSpan ClockAhead { get; set; }

    /// <summary>The credit limits of accounts for which none was set, in its settings.</summary>
    public IReadOnlyDictionary<string, decimal> OpeningLimits { get; init; } = new Dictionary<string, decimal>();

    /// <summary>The wall clock of its machine.</summary>
    public DateTimeOffset WallTime => TimeOf(_scheduler.Now) + ClockAhead;

    /// <summary>For how long its machine was paused: its monotonic clock has not counted that.</summary>
    public TimeSpan Paused { get; set; }

    /// <summary>Its clock.</summary>
    public TimeProvider Time { get; }

    /// <summary>Its supervisor.</summary>
    public Supervisor Supervisor { get; }

    /// <summary>Why its supervisor ended it; null if it did not.</summary>
    public string? Failure { get; private set; }

    /// <summary>Called when the supervisor ends it.</summary>
    public Action<Node> Failed { get; init; } = _ => { };

    /// <summary>Runs work as part of this process, unless it has crashed.</summary>
    public void Run(Action work)
    {
        if (!IsAlive)
        {
            return;
        }
        var previous = Current;
        SetSynchronizationContext(this);
        try
        {
            work();
        }
        catch (NodeCrashedException)
        {
            // The process crashed during this work.
        }
        finally
        {
            SetSynchronizationContext(previous);
        }
    }

    /// <summary>Ends the process, as kill -9 does.</summary>
    public void Crash()
    {
        IsAlive = false;
        foreach (var handler in _crashed.ToList())
        {
            handler();
        }
        _crashed.Clear();
    }

    /// <summary>Adds a handler that is called when the process crashes.</summary>
    public void OnCrash(Action handler) => _crashed.Add(handler);

    /// <summary>Removes a handler added by <see cref="OnCrash"/>.</summary>
    public void Forget(Action handler) => _crashed.Remove(handler);

    /// <summary>Calls an action when some more steps of the process's work are due,
    /// between two of its awaits.</summary>
    public void AtStep(int steps, Action action) => (_steps, _atStep) = (steps, action);

    /// <summary>Blocks a thread of the process while simulated time passes.</summary>
    public void Wait(TimeSpan time)
    {
        _scheduler.Run(time);
        if (!IsAlive)
        {
            throw new NodeCrashedException();
        }
        // Other processes have run in the meantime, each with its own context.
        SetSynchronizationContext(this);
    }

    public override void Post(SendOrPostCallback d, object? state)
    {
        if (!IsAlive || _scheduler.HasEnded)
        {
            return;
        }
        _scheduler.Post(this, () => d(state));
        if (_atStep is { } action && --_steps <= 0)
        {
            _atStep = null;
            action();
        }
    }

    public override SynchronizationContext CreateCopy() => this;

    CancellationToken IHostApplicationLifetime.ApplicationStarted => CancellationToken.None;

    CancellationToken IHostApplicationLifetime.ApplicationStopping => CancellationToken.None;

    CancellationToken IHostApplicationLifetime.ApplicationStopped => CancellationToken.None;

    void IHostApplicationLifetime.StopApplication() => Failed(this);

    IDisposable? ILogger.BeginScope<TState>(TState state) => null;

    bool ILogger.IsEnabled(LogLevel logLevel) => true;

    void ILogger.Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception,
        Func<TState, Exception?, string> formatter) =>
        Failure =
            exception is SimulationException wrong ? wrong.Message : $"{formatter(state, exception)}: {exception}";

    private sealed class NodeTime(Node node, Scheduler scheduler) : TimeProvider
    {
        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override DateTimeOffset GetUtcNow() => node.WallTime;

        // Never 0, which some code uses for "not set".
        public override long GetTimestamp() => scheduler.Now - node.Paused.Ticks + TimeSpan.TicksPerHour;

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
        {
            var timer = new NodeTimer(node, scheduler, () => callback(state));
            timer.Change(dueTime, period);
            return timer;
        }
    }

    private sealed class NodeTimer(Node node, Scheduler scheduler, Action callback) : ITimer
    {
        private Due? _due;
        private TimeSpan _period;

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            _due?.Dispose();
            _due = null;
            _period = period;
            if (dueTime != Timeout.InfiniteTimeSpan)
            {
                _due = scheduler.After(dueTime, node, Fire);
            }
            return true;
        }

        public void Dispose() => _due?.Dispose();

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }

        private void Fire()
        {
            _due = _period > TimeSpan.Zero ? scheduler.After(_period, node, Fire) : null;
            callback();
        }
    }
}

/// <summary>Unwinds the stack of a process that crashed while it was blocked in
/// <see cref="Node.Wait(TimeSpan)"/>.</summary>
internal sealed class NodeCrashedException : Exception;
