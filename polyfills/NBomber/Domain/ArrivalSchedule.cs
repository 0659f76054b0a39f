namespace NBomber.Domain;

/// <summary>When calls of the open model are meant to start, counted from the start of their phase. With r(t) the rate at
/// time t, in calls per interval, and N(t) the integral of r from 0 to t divided by the interval, the k-th call (from 0) is
/// meant for the time at which N(t) = k. What the called system does has no influence.</summary>
internal static class ArrivalSchedule
{
    /// <summary>r(t) = rate, so N(t) = rate * t / interval and the k-th call is at k * interval / rate.</summary>
    public static IEnumerable<TimeSpan> Constant(int rate, TimeSpan interval, TimeSpan during)
    {
        for (var k = 0L; Spread(k, rate, interval) is var at && at < during; k++)
        {
            yield return at;
        }
    }

    /// <summary>As <see cref="Constant"/>, until a number of calls is reached.</summary>
    public static IEnumerable<TimeSpan> Iterations(int rate, TimeSpan interval, int iterations)
    {
        for (var k = 0L; k < iterations; k++)
        {
            yield return Spread(k, rate, interval);
        }
    }

    /// <summary>r(t) = from + (to - from) * t / during, so N(t) = (from * t + (to - from) * t² / (2 * during)) / interval;
    /// the k-th call is at its (first) root for k.</summary>
    public static IEnumerable<TimeSpan> Ramp(int from, int to, TimeSpan interval, TimeSpan during)
    {
        // With a call's time as a share x of the phase and n = during / interval: slope * x² + start * x = k.
        var start = from * (during / interval);
        var slope = (to - from) * (during / interval) / 2;
        for (var k = 0L; k < start + slope; k++)
        {
            // The other form of the root, which stays exact when the slope is small or zero.
            var root = Math.Sqrt(Math.Max(0, start * start + 4 * slope * k));
            var share = k == 0 ? 0 : 2 * k / (start + root);
            yield return during * Math.Min(1, share);
        }
    }

    /// <summary>In each interval a constant rate, drawn anew from minRate to maxRate.</summary>
    public static IEnumerable<TimeSpan> Drawn(int minRate, int maxRate, TimeSpan interval, TimeSpan during, Random random)
    {
        for (var begin = TimeSpan.Zero; begin < during; begin += interval)
        {
            var rate = random.Next(minRate, maxRate + 1);
            for (var k = 0; k < rate && begin + Spread(k, rate, interval) is var at && at < during; k++)
            {
                yield return at;
            }
        }
    }

    // In whole ticks without an error that grows with k.
    private static TimeSpan Spread(long k, int rate, TimeSpan interval) =>
        TimeSpan.FromTicks(k / rate * interval.Ticks + k % rate * interval.Ticks / rate);
}
