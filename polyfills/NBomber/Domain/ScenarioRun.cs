using NBomber.Contracts;
using NBomber.Contracts.Stats;

namespace NBomber.Domain;

/// <summary>A scenario while it warms up or counts: starts what its simulations say, and what is due still when
/// they end is dropped.</summary>
internal sealed class ScenarioRun : IDisposable
{
    // What has not ended by then is not counted.
    private static readonly TimeSpan LastCallsBound = TimeSpan.FromMinutes(1);

    private readonly CancellationTokenSource _stopped = new();
    private readonly List<Task> _copies = [];
    private readonly Random _random = new(1);
    private readonly long _start;
    private TimeSpan _paused;
    private TimeSpan? _duration;

    public ScenarioRun(Session session, ScenarioProps props, ScenarioOperation operation, TimeProvider time)
    {
        Session = session;
        Props = props;
        Info = new ScenarioInfo(props.ScenarioName, operation);
        Time = time;
        Stopped = _stopped.Token;
        _start = time.GetTimestamp();
    }

    public Session Session { get; }

    public ScenarioProps Props { get; }

    public ScenarioInfo Info { get; }

    public Meter Meter { get; } = new();

    public TimeProvider Time { get; }

    public CancellationToken Stopped { get; }

    public void Stop() => _stopped.Cancel();

    public void Dispose() => _stopped.Dispose();

    public async Task RunAsync()
    {
        if (Info.ScenarioOperation == ScenarioOperation.WarmUp)
        {
            _stopped.CancelAfter(Props.WarmUpDuration!.Value);
        }
        var (begin, rate) = (TimeSpan.Zero, 0);
        foreach (var simulation in Props.LoadSimulations)
        {
            await SimulateAsync(simulation, begin, rate).ConfigureAwait(false);
            begin += simulation.During;
            rate = simulation switch
            {
                LoadSimulation.Inject inject => inject.Rate,
                LoadSimulation.RampingInject ramp => ramp.Rate,
                LoadSimulation.KeepConstant keep => keep.Copies,
                _ => 0,
            };
        }
        _duration = Stopped.IsCancellationRequested ? Time.GetElapsedTime(_start) : begin;
        await _stopped.CancelAsync().ConfigureAwait(false);
        await Task.WhenAny(Task.WhenAll(_copies), Task.Delay(LastCallsBound, Time)).ConfigureAwait(false);
    }

    /// <summary>What was counted by now. Rates are over the planned time, or over the time until the stop,
    /// without pauses.</summary>
    public ScenarioStats Stats()
    {
        var duration = _duration ?? Time.GetElapsedTime(_start);
        return Meter.Stats(Props.ScenarioName, duration, duration - _paused);
    }

    /// <param name="simulation">What to do.</param>
    /// <param name="begin">When, counted from the start.</param>
    /// <param name="rateBefore">Calls in an interval of the simulation before.</param>
    private async Task SimulateAsync(LoadSimulation simulation, TimeSpan begin, int rateBefore)
    {
        using var end = CancellationTokenSource.CreateLinkedTokenSource(Stopped);
        for (var at = TimeSpan.Zero; at < simulation.During
            && !Stopped.IsCancellationRequested; at += simulation.Interval)
        {
            switch (simulation)
            {
                case LoadSimulation.Inject inject:
                    Start(inject.Rate, simulation.Interval, copy => copy.OnceAsync());
                    break;
                case LoadSimulation.RampingInject ramp:
                    Start(
                        Ramped(rateBefore, ramp.Rate, at / simulation.During),
                        simulation.Interval, copy => copy.OnceAsync());
                    break;
                case LoadSimulation.KeepConstant keep when at == TimeSpan.Zero:
                    Start(keep.Copies, simulation.Interval, copy => copy.RepeatAsync(end.Token));
                    break;
                case LoadSimulation.Pause when at == TimeSpan.Zero:
                    _paused += simulation.During;
                    break;
            }
            await WaitUntilAsync(begin + at + simulation.Interval).ConfigureAwait(false);
        }
        await end.CancelAsync().ConfigureAwait(false);
    }

    // Progress along a ramp is a whole number of hundredths, as NBomber counts it.
    private static int Ramped(int from, int to, double progress) =>
        (int)Math.Round(
            from + ((to - from) * Math.Round(progress * 100, MidpointRounding.AwayFromZero) / 100),
            MidpointRounding.AwayFromZero);

    /// <summary>Starts copies, each at a random moment within an interval.</summary>
    private void Start(int count, TimeSpan within, Func<Copy, Task> run)
    {
        _copies.RemoveAll(c => c.IsCompleted);
        for (var i = 0; i < count; i++)
        {
            var delay = TimeSpan.FromMilliseconds(_random.Next((int)within.TotalMilliseconds));
            _copies.Add(StartAsync(delay, run));
        }
    }

    private async Task StartAsync(TimeSpan delay, Func<Copy, Task> run)
    {
        // Not on the thread that starts the others.
        await Task.Delay(delay, Time, CancellationToken.None).ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        if (!Stopped.IsCancellationRequested)
        {
            await run(new Copy(this)).ConfigureAwait(false);
        }
    }

    private async Task WaitUntilAsync(TimeSpan sinceStart)
    {
        if (sinceStart - Time.GetElapsedTime(_start) is var left && left > TimeSpan.Zero)
        {
            await Task.Delay(left, Time, Stopped).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }
}
