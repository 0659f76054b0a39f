using System.Diagnostics;
using Billing.Simulation.Schedules;

namespace Billing.Simulation.Runs;

/// <summary>Runs random schedules, each from a separate seed, on several threads.</summary>
public static class Simulator
{
    /// <summary>Runs schedules until the time is up, all are done, or one fails.</summary>
    /// <param name="seed">The first schedule's seed; each further schedule has the next number.</param>
    /// <param name="schedules">The most schedules to run.</param>
    /// <param name="time">The longest time to run.</param>
    /// <param name="threads">The number of concurrent runs.</param>
    /// <param name="progress">Called with the summary so far, every 1000 schedules.</param>
    /// <param name="cancellationToken">Ends the simulation early.</param>
    public static SimulationSummary Simulate(
        int seed, int schedules, TimeSpan time, int threads,
        Action<SimulationSummary> progress, CancellationToken cancellationToken)
    {
        var gate = new Lock();
        var watch = Stopwatch.StartNew();
        var (next, done, ticks, steps) = (0, 0, 0L, 0L);
        RunResult? failed = null;
        void Work()
        {
            while (Volatile.Read(ref failed) is null && watch.Elapsed < time
                && !cancellationToken.IsCancellationRequested)
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
                    // Of schedules that fail at the same time, the one with the lowest seed, which a repetition
                    // would find first.
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

    /// <summary>The points of the platform's code that ten minutes of schedules must reach, and that none of this
    /// process has reached.</summary>
    public static IReadOnlyList<string> PointsMissing => Points.Missing;

    /// <summary>Runs the schedule of one seed twice and compares the runs.</summary>
    /// <returns>Whether both runs were the same, step by step.</returns>
    public static bool IsRepeatable(int seed)
    {
        var (first, second) =
            (Run.Of(Schedule.Of(seed), keepsTrace: true), Run.Of(Schedule.Of(seed), keepsTrace: true));
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

/// <summary>The result of a simulation.</summary>
/// <param name="Seed">The first schedule's seed.</param>
/// <param name="Schedules">Number of schedules run.</param>
/// <param name="Simulated">The simulated time that passed in them.</param>
/// <param name="Steps">The number of steps taken in them.</param>
/// <param name="Took">The real time that passed.</param>
/// <param name="Failure">The schedule that failed; null if none did.</param>
public sealed record SimulationSummary(
    int Seed, int Schedules, TimeSpan Simulated, long Steps, TimeSpan Took, SimulationFailure? Failure);

/// <summary>A schedule that failed.</summary>
/// <param name="Seed">Its seed.</param>
/// <param name="What">What was wrong in the schedule.</param>
/// <param name="Shortest">What is wrong in the shortest schedule that still fails.</param>
/// <param name="Settings">The settings of the platform in the shortest schedule.</param>
/// <param name="Schedule">The operations and faults of the shortest schedule, one per line.</param>
/// <param name="Trace">The trace of the shortest schedule.</param>
public sealed record SimulationFailure(
    int Seed, string What, string Shortest, string Settings, IReadOnlyList<string> Schedule, string Trace);
