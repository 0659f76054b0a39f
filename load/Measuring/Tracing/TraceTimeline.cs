using Billing.Reporting.Charts;

namespace Billing.Measuring.Tracing;

/// <summary>A trace over time: one point per second, or per several seconds in a long trace.</summary>
internal static class TraceTimeline
{
    private const int PointsMax = 240;

    private static readonly Axis Time = new("Time since the first payment", "s");

    public static LineChart Throughput(IReadOnlyList<TracedPayment> payments)
    {
        var failed = payments.Where(p => !p.IsAnswered).ToList();
        var (start, width) = Slots(payments);
        List<Series> lines =
        [
            PerSecond("sent", payments.Select(p => p[Moment.Sent])),
            PerSecond("answered", payments.Where(p => p.IsAnswered).Select(p => p[Moment.Returned])),
        ];
        if (failed.Count > 0)
        {
            lines.Add(PerSecond("failed", failed.Select(p => p[Moment.Returned])));
        }
        return new LineChart("Payments per second", Time, new Axis("Payments", "per second"), lines);

        Series PerSecond(string name, IEnumerable<long> moments)
        {
            var counts = moments.CountBy(at => (at - start) / width).ToDictionary();
            // The last slot is incomplete.
            var slots = counts.Count == 0 ? 0 : counts.Keys.Max();
            return new Series(
                name,
                [.. Range(slots).Select(slot => (slot * width / 1e6, counts.GetValueOrDefault(slot) * 1e6 / width))]);
        }
    }

    public static LineChart Latency(IReadOnlyList<TracedPayment> payments)
    {
        var first = Leg.StartOf(payments);
        var (start, width) = Slots(payments);
        var bySlot = payments.Where(p => p.IsAnswered && p.Has(first)).GroupBy(p => (p[first] - start) / width)
            .OrderBy(g => g.Key)
            .Select(g => (
                At: g.Key * width / 1e6,
                Sorted: g.Select(p => p.Milliseconds(first, Moment.Returned)).OfType<double>().Order().ToList()))
            .ToList();
        Series Line(string name, double share) =>
            new(name, [.. bySlot.Select(slot => (slot.At, NearestRank.Percentile(slot.Sorted, share)))]);
        return new LineChart(
            first == Moment.Planned
                ? "Latency of the payments due in each second"
                : "Latency of the payments sent in each second",
            Time, new Axis("Latency", "ms", IsLogarithmic: true),
            Line("p50", 0.5), Line("p99", 0.99), Line("longest", 1));
    }

    private static IEnumerable<long> Range(long count)
    {
        for (long i = 0; i < count; i++)
        {
            yield return i;
        }
    }

    /// <summary>Returns the start of the time axis and the width of a slot, in microseconds.</summary>
    private static (long Start, long Width) Slots(IReadOnlyList<TracedPayment> payments)
    {
        if (payments.Count == 0)
        {
            return (0, 1_000_000);
        }
        var first = Leg.StartOf(payments);
        var start = payments.Where(p => p.Has(first)).Select(p => p[first]).DefaultIfEmpty(0).Min();
        var seconds = (payments.Max(p => p[Moment.Sent]) - start) / 1_000_000;
        return (start, ((seconds / PointsMax) + 1) * 1_000_000);
    }
}
