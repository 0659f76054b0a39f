using System.Globalization;
using Billing.Client.Load;
using Billing.Reporting;
using Billing.Reporting.Charts;

namespace Billing.Measuring.Tracing;

/// <summary>What a trace shows: where the time of its payments went, and how that was over time.</summary>
internal static class TracePage
{
    private static readonly Axis Delay = new("Delay", "ms");

    /// <param name="summary">What is known of the run; null where only the payments are.</param>
    /// <param name="payments">The payments.</param>
    public static Report Of(TraceResult? summary, IReadOnlyList<TracedPayment> payments)
    {
        var counts = TraceCounts.Of(payments);
        var whole = LegTimes.Of(Leg.Whole(payments), payments);
        return Head(summary, counts, whole.Percentile(0.5)) with
        {
            Sections =
            [
                new Section("", Figures(counts, whole)),
                new Section("Where the time goes", [Path(payments), .. Steps([.. LegSummary.Of(payments)])]),
                new Section("How long payments take", Percentiles(payments, whole)),
                new Section("Over time", TraceTimeline.Throughput(payments), TraceTimeline.Latency(payments)),
                new Section("On the way and in the store", new Prose(Arrived(counts, payments))),
            ],
        };
    }

    /// <summary>The report of a summary whose payments are not at hand.</summary>
    public static Report Of(TraceResult summary)
    {
        var whole = summary.Steps.FirstOrDefault(s => s.Name == Leg.WholeName);
        return Head(summary, summary.Requests, whole?.P50Ms ?? 0) with
        {
            Sections = [new Section("Where the time goes", [.. Steps(summary.Steps)])],
        };
    }

    private static Report Head(TraceResult? summary, TraceCounts counts, double medianMs) => FailedRequests.StatedIn(new Report
    {
        Title = "The way of a payment, step by step",
        Subtitle = counts.Sent == 0
            ? "No payment was sent."
            : $"{Numbers.Whole(counts.Accepted + counts.Declined)} of {Numbers.Whole(counts.Sent)} payments answered, {Numbers.Whole(counts.PerS)} a second; half of them within {Numbers.Significant(medianMs)} ms.",
        Facts = summary is null ? [] : Facts(summary),
    }, counts.Failed);

    private static List<Fact> Facts(TraceResult summary) =>
    [
        new("Date", summary.StartedAt.ToString("yyyy-MM-dd HH:mm 'UTC'", CultureInfo.InvariantCulture)),
        .. Measuring.Facts.Of(summary.Machine),
        new("Transport", summary.Transport.Length > 0 ? summary.Transport : "of the proxies that were there"),
        new("Command", summary.Command, IsCode: true),
        .. summary.Incomplete is { } reason ? [new Fact("Incomplete", $"Ended early ({reason}); the figures cover the part that was measured.")] : Array.Empty<Fact>(),
    ];

    private static KeyFigures Figures(TraceCounts counts, LegTimes whole) => new(
        new KeyFigure(Numbers.Whole(counts.PerS), "/s", "answers, over the whole run"),
        new KeyFigure(Numbers.Significant(whole.Percentile(0.5)), "ms", "half of the answered payments take less"),
        new KeyFigure(Numbers.Significant(whole.Percentile(0.99)), "ms", "99 of 100 take less"),
        new KeyFigure(Numbers.Significant(whole.Max), "ms", "the slowest"),
        new KeyFigure(Numbers.Whole(counts.Failed), "", counts.Failed == 1 ? "failed" : "failed, of " + Numbers.Whole(counts.Sent)));

    /// <summary>The legs' shares in payments of about the same length: those of percentiles would not add up.</summary>
    private static StackedBars Path(IReadOnlyList<TracedPayment> payments)
    {
        var legs = Leg.Of(payments);
        var complete = payments.Where(p => p.IsAnswered && legs.All(l => p.Has(l.From) && p.Has(l.To)))
            .OrderBy(p => p.Milliseconds(Leg.StartOf(payments), Moment.Returned)).ToList();
        (string Label, double From, double To)[] bands =
            [("typical (p45–p55)", 0.45, 0.55), ("slow (p89–p91)", 0.89, 0.91), ("slower (p98.5–p99.5)", 0.985, 0.995), ("slowest 0.5 %", 0.995, 1)];
        return new StackedBars(
            "Delay per step, in milliseconds", Delay, [.. legs.Select(l => l.Name)],
            [.. bands.Select(band => Band(band.Label, complete[Index(band.From)..Math.Max(Index(band.To), Index(band.From))], legs))])
        {
            IsShare = true,
            Name = "delay-per-step",
            Note = "The mean of each step among payments that took about equally long altogether; behind each bar, how long that is. Kafka states its moment in whole milliseconds.",
        };

        int Index(double share) => (int)Math.Round(share * complete.Count);
    }

    private static Stack Band(string label, List<TracedPayment> band, IReadOnlyList<Leg> legs) => new(
        label, [.. legs.Select(leg => band.Count == 0 ? 0 : band.Average(p => p.Milliseconds(leg.From, leg.To) ?? 0))]);

    private static IEnumerable<Table> Steps(IReadOnlyList<LegSummary> steps)
    {
        var decimals = steps.Any(s => s.P90Ms >= 100) ? 1 : 2;
        yield return Percentiles("Each step", steps.Where(s => !Leg.IsMilestone(s.Name)), decimals) with
        {
            Note = "The percentiles of steps do not add up to those of the whole way: no payment is slow everywhere.",
        };
        yield return Percentiles(FromStart("From the", steps.FirstOrDefault(s => s.Name == Leg.WholeName)?.From), steps.Where(s => Leg.IsMilestone(s.Name)), decimals);
    }

    private static Table Percentiles(string title, IEnumerable<LegSummary> steps, int decimals)
    {
        string Ms(double value) => Numbers.Fixed(value, decimals);
        return new Table
        {
            Title = title,
            Columns =
            [
                new("Step", Align.Left), new("p50", Unit: "ms"), new("p90", Unit: "ms"), new("p99", Unit: "ms"),
                new("p99.9", Unit: "ms"), new("Longest", Unit: "ms"), new("Mean", Unit: "ms"),
            ],
            Rows =
            [
                .. steps.Select(s => new Row(s.Name, Ms(s.P50Ms), Ms(s.P90Ms), Ms(s.P99Ms), Ms(s.P999Ms), Ms(s.MaxMs), Ms(s.MeanMs))
                {
                    IsHighlighted = s.Name == Leg.WholeName,
                }),
            ],
        };
    }

    private static PercentileChart Percentiles(IReadOnlyList<TracedPayment> payments, LegTimes whole)
    {
        var stored = LegTimes.Of(new Leg("until stored", whole.Leg.From, Moment.Stored), payments);
        return new PercentileChart(
            FromStart("Time from the", whole.Leg.From.ToString()) + ", by percentile", new Axis("Time", "ms"),
            PercentileChart.Curve("until the answer is back", whole.Sorted), PercentileChart.Curve(stored.Leg.Name, stored.Sorted));
    }

    private static string FromStart(string text, string? start) =>
        text + (string.Equals(start, nameof(Moment.Planned), StringComparison.OrdinalIgnoreCase) ? " moment it was due" : " sending");

    private static string Arrived(TraceCounts counts, IReadOnlyList<TracedPayment> payments)
    {
        var late = NearestRank.Percentile([.. payments.Select(p => p.Milliseconds(Moment.Planned, Moment.Sent)).OfType<double>().Order()], 0.99);
        var answered = counts.Accepted + counts.Declined;
        var store = counts.InStore == 0
            ? "The event store was not asked which payments it holds."
            : $"Of {Numbers.Whole(answered)} answered payments, {Numbers.Whole(counts.InStore)} were found in the event store under the version that their answers name. Its timestamp is when the transaction began that stored the event, so it lies before the commit.";
        return $"{store}\n\nPayments were sent at a constant rate, whatever became of those before. 99 of 100 were sent within {Numbers.Significant(late)} ms of the moment that they were due.";
    }
}
