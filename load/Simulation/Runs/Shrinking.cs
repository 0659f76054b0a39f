using Billing.Simulation.Schedules;

namespace Billing.Simulation.Runs;

/// <summary>Shrinks a failing schedule: removes operations and faults, first half of them at a time and finally single
/// ones, as long as the rest still fails in some way.</summary>
internal static class Shrinking
{
    private const int RunsMax = 2000;

    public static RunResult Shrink(RunResult failed)
    {
        var runs = 0;
        var best = failed;
        bool shorter;
        do
        {
            shorter = false;
            best = Leave(best, s => s.Faults, (s, faults) => s with { Faults = faults }, ref runs, ref shorter);
            best = Leave(
                best, s => s.Operations, (s, operations) => s with { Operations = operations }, ref runs, ref shorter);
        }
        while (shorter && runs < RunsMax);
        return best;
    }

    private static RunResult Leave<T>(
        RunResult best, Func<Schedule, IReadOnlyList<T>> part,
        Func<Schedule, IReadOnlyList<T>, Schedule> with, ref int runs, ref bool shorter)
    {
        for (var size = Math.Max(1, part(best.Schedule).Count / 2); size > 0; size /= 2)
        {
            for (var start = 0; start < part(best.Schedule).Count && runs < RunsMax;)
            {
                var all = part(best.Schedule);
                runs++;
                var tried = Run.Of(with(best.Schedule, [.. all.Take(start), .. all.Skip(start + size)]));
                if (tried.Failure is null)
                {
                    start += size;
                }
                else
                {
                    (best, shorter) = (tried, true);
                }
            }
        }
        return best;
    }
}
