namespace Billing.Driver;

/// <summary>The times at which the requests of an open load are due.</summary>
public sealed class Schedule(IReadOnlyList<Phase> phases)
{
    /// <summary>Lists the requests in order: the time from the start at which each is due, and the index of its phase.
    /// Request n of a phase, counted from 0, is due when the integral of the rate has reached n.</summary>
    public IEnumerable<(TimeSpan Due, int Phase)> Requests()
    {
        var start = 0.0;
        for (var i = 0; i < phases.Count; i++)
        {
            var phase = phases[i];
            var count = (long)Math.Ceiling((phase.FromPerS + phase.ToPerS) / 2 * phase.DurationS);
            for (var n = 0L; n < count; n++)
            {
                yield return (TimeSpan.FromSeconds(start + SecondsOf(phase, n)), i);
            }
            start += phase.DurationS;
        }
    }

    // Solves from t + (to - from) t² / 2 duration = n in a form that is exact for a constant rate, too.
    private static double SecondsOf(Phase phase, double n)
    {
        var slope = (phase.ToPerS - phase.FromPerS) / phase.DurationS;
        return n == 0
            ? 0
            : 2 * n / (phase.FromPerS + Math.Sqrt(Math.Max(0, (phase.FromPerS * phase.FromPerS) + (2 * slope * n))));
    }
}
