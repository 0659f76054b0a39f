using System.Diagnostics;
using NBomber.Contracts;
using NBomber.Contracts.Stats;

namespace NBomber.Domain;

/// <summary>A scenario at work: its phases one after the other, then its last calls.</summary>
internal sealed class ScenarioRun : IDisposable
{
    // Calls under way at the end get this long to answer; those that do not are not counted.
    private static readonly TimeSpan LastCallsBound = TimeSpan.FromMinutes(1);

    private readonly CancellationTokenSource _stop = new();
    private readonly CancellationTokenSource _ended = new();
    private readonly InFlight _inFlight = new();
    private readonly ScenarioOperation _operation;
    private readonly TimeSpan _planned;
    private readonly Copies _copies;
    private long _invocations;
    private long _start;
    private TimeSpan? _duration;

    public ScenarioRun(Session session, ScenarioProps props, ScenarioOperation operation)
    {
        Session = session;
        Props = props;
        _operation = operation;
        _planned = Phases.Of(props.LoadSimulations).Aggregate(TimeSpan.Zero, (sum, p) => sum + p.During);
        _copies = new Copies(this);
        // Kept, because a call that is given up may ask for them after all is over.
        (Ended, Stopped) = (_ended.Token, _stop.Token);
    }

    public Session Session { get; }

    public ScenarioProps Props { get; }

    public Meter Meter { get; } = new();

    /// <summary>Cancelled when no new call starts any more.</summary>
    public CancellationToken Ended { get; }

    /// <summary>Cancelled when somebody stops the scenario before its time.</summary>
    public CancellationToken Stopped { get; }

    public TimeSpan Elapsed => _duration ?? (_start == 0 ? TimeSpan.Zero : Stopwatch.GetElapsedTime(_start));

    public int CallsUnderWay => _inFlight.Count;

    public string Phase { get; private set; } = "";

    public void Stop() => _stop.Cancel();

    /// <summary>Runs all phases; returns when the last call has been answered, or given up.</summary>
    public async Task RunAsync()
    {
        _start = Stopwatch.GetTimestamp();
        var begin = _start;
        var isExact = false;
        foreach (var phase in Phases.Of(Props.LoadSimulations))
        {
            if (_stop.IsCancellationRequested)
            {
                break;
            }
            Phase = phase.Name;
            await phase.RunAsync(this, _copies, begin).ConfigureAwait(false);
            isExact = phase is OpenPhase;
            begin = phase.IsTimed ? begin + (long)(phase.During.TotalSeconds * Stopwatch.Frequency) : Stopwatch.GetTimestamp();
        }
        _copies.Set(0);
        // No call of an open phase is meant for a time after its end, however late the timer that tells of the end.
        _duration = isExact && !_stop.IsCancellationRequested ? Stopwatch.GetElapsedTime(_start, begin) : Stopwatch.GetElapsedTime(_start);
        await _ended.CancelAsync().ConfigureAwait(false);
        await Task.WhenAny(_inFlight.IdleAsync(), Task.Delay(LastCallsBound)).ConfigureAwait(false);
    }

    public ScenarioInfo Instance(int number) => new(Props.ScenarioName, number, _planned, _operation);

    public ScenarioStats Stats(OperationType operation) => Meter.Stats(
        Props.ScenarioName, Elapsed, new LoadSimulationStats { SimulationName = Phase, Value = _copies.Count > 0 ? _copies.Count : CallsUnderWay }, operation);

    /// <summary>Starts a call of the open model on the thread pool.</summary>
    public void Dispatch(int instance, long intended)
    {
        _inFlight.Enter();
        ThreadPool.UnsafeQueueUserWorkItem(
            static call => _ = call.Run.CallAsync(call.Run.Instance(call.Instance), new(StringComparer.Ordinal), call.Intended),
            (Run: this, Instance: instance, Intended: intended), preferLocal: false);
    }

    /// <summary>Makes a call of the closed model.</summary>
    public Task IterateAsync(ScenarioInfo instance, Dictionary<string, object> instanceData)
    {
        _inFlight.Enter();
        return CallAsync(instance, instanceData, Stopwatch.GetTimestamp());
    }

    public void Dispose()
    {
        _stop.Dispose();
        _ended.Dispose();
    }

    private async Task CallAsync(ScenarioInfo instance, Dictionary<string, object> instanceData, long intended)
    {
        try
        {
            var invocation = new Invocation(this, instance, instanceData, Interlocked.Increment(ref _invocations), intended);
            var response = await AnswerAsync(invocation).ConfigureAwait(false);
            Meter.Record(Invocation.Latency(intended, response), response);
            if (response.IsError && _operation == ScenarioOperation.Bombing && Meter.FailCount >= Props.MaxFailCount)
            {
                Session.Stop($"Scenario '{Props.ScenarioName}' has reached {Props.MaxFailCount} failures.");
            }
        }
        finally
        {
            _inFlight.Leave();
        }
    }

    private async Task<IResponse> AnswerAsync(Invocation invocation)
    {
        try
        {
            return await Props.Run!(invocation).ConfigureAwait(false);
        }
        catch (IterationFailedException e)
        {
            return e.Response;
        }
        catch (Exception e)
        {
            return Failures.Of<object>(e);
        }
    }
}
