using System.Diagnostics;

namespace NBomber.Domain;

/// <summary>One load simulation of a scenario.</summary>
internal abstract class Phase
{
    public abstract string Name { get; }

    /// <summary>Zero where the number of calls says when it ends.</summary>
    public abstract TimeSpan During { get; }

    public bool IsTimed => During > TimeSpan.Zero;

    /// <param name="run">The scenario.</param>
    /// <param name="copies">Its copies, which may stay from one closed phase to the next.</param>
    /// <param name="begin">The timestamp at which the phase was meant to start.</param>
    public abstract Task RunAsync(ScenarioRun run, Copies copies, long begin);

    protected static long After(long begin, TimeSpan time) => begin + (long)(time.TotalSeconds * Stopwatch.Frequency);

    /// <summary>Waits on a timer, which may be late by milliseconds; false if the scenario was stopped.</summary>
    protected static async Task<bool> WaitAsync(ScenarioRun run, long timestamp)
    {
        var left = TimeSpan.FromSeconds((timestamp - Stopwatch.GetTimestamp()) / (double)Stopwatch.Frequency);
        if (left > TimeSpan.Zero)
        {
            await Task.Delay(left, run.Stopped).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
        return !run.Stopped.IsCancellationRequested;
    }
}

/// <summary>Calls start when they are due, whatever became of those before. One thread of its own starts all that are due,
/// then waits for the next.</summary>
internal sealed class OpenPhase(string name, TimeSpan during, Func<IEnumerable<TimeSpan>> arrivals) : Phase
{
    public override string Name => name;

    public override TimeSpan During => during;

    public override async Task RunAsync(ScenarioRun run, Copies copies, long begin)
    {
        copies.Set(0);
        await Task.Factory.StartNew(() => Start(run, begin), CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default)
            .ConfigureAwait(false);
        if (IsTimed)
        {
            await WaitAsync(run, After(begin, during)).ConfigureAwait(false);
        }
    }

    private void Start(ScenarioRun run, long begin)
    {
        var instance = 0;
        foreach (var arrival in arrivals())
        {
            var intended = After(begin, arrival);
            if (!PreciseWait.Until(intended, TimeProvider.System, run.Stopped))
            {
                return;
            }
            run.Dispatch(++instance, intended);
        }
    }
}

/// <summary>A number of copies, each of which waits for its answer before it calls again.</summary>
internal sealed class ClosedPhase(string name, int from, int to, TimeSpan during) : Phase
{
    public override string Name => name;

    public override TimeSpan During => during;

    public override async Task RunAsync(ScenarioRun run, Copies copies, long begin)
    {
        copies.Set(from);
        foreach (var (at, count) in CopySchedule.Ramp(from, to, during))
        {
            if (!await WaitAsync(run, After(begin, at)).ConfigureAwait(false))
            {
                return;
            }
            copies.Set(count);
        }
        await WaitAsync(run, After(begin, during)).ConfigureAwait(false);
    }
}

/// <summary>A number of copies that make a number of calls between them.</summary>
internal sealed class CountedPhase(string name, int copies, int iterations) : Phase
{
    public override string Name => name;

    public override TimeSpan During => TimeSpan.Zero;

    public override Task RunAsync(ScenarioRun run, Copies running, long begin) => running.IterateAsync(copies, iterations);
}

internal sealed class PausePhase(TimeSpan during) : Phase
{
    public override string Name => "pause";

    public override TimeSpan During => during;

    public override Task RunAsync(ScenarioRun run, Copies copies, long begin)
    {
        copies.Set(0);
        return WaitAsync(run, After(begin, during));
    }
}
