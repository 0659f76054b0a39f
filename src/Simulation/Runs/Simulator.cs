using System.Diagnostics;

namespace Billing.Simulation.Runs;

/// <summary>Runs schedule after schedule, each from a seed of its own, on as many threads as there are cores.</summary>
public static class Simulator
{
    /// <summary>Runs schedules until the time is up, or one fails.</summary>
    /// <param name="seed">The first schedule's seed; each further one has the next.</param>
    /// <param name="schedules">How many at most.</param>
    /// <param name="time">How long at most.</param>
    /// <param name="threads">How many at a time.</param>
    /// <param name="progress">Is told how many are done, now and then.</param>
    /// <param name="cancellationToken">Ends the simulation early.</param>
    public static SimulationSummary Simulate(
        int seed, int schedules, TimeSpan time, int threads, Action<SimulationSummary> progress, CancellationToken cancellationToken)
    {
        var gate = new Lock();
        var watch = Stopwatch.StartNew();
        var (next, done, ticks, steps) = (0, 0, 0L, 0L);
        RunResult? failed = null;
        void Work()
        {
            while (Volatile.Read(ref failed) is null && watch.Elapsed < time && !cancellationToken.IsCancellationRequested)
            {
                var number = Interlocked.Increment(ref next) - 1;
                if (number >= schedules)
                {
                    return;
                }
                var result = Run.Of(Schedule.Of(unchecked(seed + number)));
                lock (gate)
                {
                    (done, ticks, steps) = (done + 1, ticks + result.Simulated.Ticks, steps + result.Steps);
                    // Of two that fail at the same time, the one that a second run would find first.
                    if (result.Failure is not null && (failed is null || result.Schedule.Seed < failed.Schedule.Seed))
                    {
                        failed = result;
                    }
                    if (done % 1000 == 0)
                    {
                        progress(Summary());
                    }
                }
            }
        }

        SimulationSummary Summary() => new(seed, done, TimeSpan.FromTicks(ticks), steps, watch.Elapsed, null);

        var workers = Enumerable.Range(0, threads).Select(_ => new Thread(Work, 16 * 1024 * 1024)).ToList();
        workers.ForEach(worker => worker.Start());
        workers.ForEach(worker => worker.Join());
        return Summary() with { Failure = failed is null ? null : Explain(failed) };
    }

    /// <summary>Runs the schedule of one seed twice and compares.</summary>
    /// <returns>Whether both runs went the same way, step by step.</returns>
    public static bool IsRepeatable(int seed)
    {
        var (first, second) = (Run.Of(Schedule.Of(seed), keepsTrace: true), Run.Of(Schedule.Of(seed), keepsTrace: true));
        return first.Hash == second.Hash && first.Trace == second.Trace && first.Steps == second.Steps;
    }

    private static SimulationFailure Explain(RunResult failed)
    {
        var shortest = Shrinking.Shrink(failed);
        var schedule = shortest.Schedule;
        return new SimulationFailure(
            schedule.Seed, failed.Failure!, shortest.Failure!, schedule.Settings.ToString(),
            [.. schedule.Operations.Select(o => o.ToString()), .. schedule.Faults.Select(f => f.ToString())],
            Run.Of(schedule, keepsTrace: true).Trace);
    }
}

/// <summary>What a simulation came to.</summary>
/// <param name="Seed">The first schedule's seed.</param>
/// <param name="Schedules">Schedules run.</param>
/// <param name="Simulated">The time that passed in them.</param>
/// <param name="Steps">The steps that were taken in them.</param>
/// <param name="Took">The time that passed outside.</param>
/// <param name="Failure">The schedule that failed; null where none did.</param>
public sealed record SimulationSummary(
    int Seed, int Schedules, TimeSpan Simulated, long Steps, TimeSpan Took, SimulationFailure? Failure);

/// <summary>A schedule that failed.</summary>
/// <param name="Seed">Its seed.</param>
/// <param name="What">What was wrong.</param>
/// <param name="Shortest">What is wrong in the shortest schedule that still fails.</param>
/// <param name="Settings">How the platform was set up.</param>
/// <param name="Schedule">What happens in that schedule, a line each.</param>
/// <param name="Trace">What happened in it.</param>
public sealed record SimulationFailure(
    int Seed, string What, string Shortest, string Settings, IReadOnlyList<string> Schedule, string Trace);
