using Billing.Reporting;
using Billing.Reporting.Charts;

namespace Billing.Measuring.Tracing;

/// <summary>The page of a trace: the durations of the payments' steps, and throughput and latency over time.</summary>
internal static class TracePage
{
    private static readonly Axis Delay = new("Delay", "ms");

    /// <param name="result">The results of the run; null if only the payments are available.</param>
    public static Report Of(TraceResult? result, IReadOnlyList<TracedPayment> payments)
    {
        var counts = TraceCounts.Of(payments);
        var whole = LegTimes.Of(Leg.Whole(payments), payments);
        return Head(result, counts, whole.Percentile(0.5)) with
        {
            Sections =
            [
                new Section("", Figures(counts, whole)),
                new Section("Time per step", [Path(payments), .. Steps([.. LegSummary.Of(payments)])]),
                new Section("Over time", TraceTimeline.Throughput(payments), TraceTimeline.Latency(payments)),
                new Section("Event store and sending", new Prose(StoreAndSending(counts, payments))),
            ],
        };
    }

    /// <summary>Returns the report of results whose payments are not available.</summary>
    public static Report Of(TraceResult result)
    {
        var whole = result.Steps.FirstOrDefault(s => s.Name == Leg.TotalName);
        return Head(result, result.Requests, whole?.P50Ms ?? 0) with
        {
            Sections = [new Section("Time per step", [.. Steps(result.Steps)])],
        };
    }

    private static Report Head(TraceResult? result, TraceCounts counts, double medianMs) => FailedRequests.AddTo(new()
    {
        Title = "Time of a payment, step by step",
        Subtitle = counts.Sent == 0
            ? "No payment was sent."
            : $"{Numbers.Whole(counts.Accepted + counts.Declined)} of {Numbers.Whole(counts.Sent)} payments answered, "
                + $"{Numbers.Whole(counts.PerS)} per second; median latency {Numbers.Significant(medianMs)} ms.",
        Facts = result is null ? [] :
        [
            .. Facts.Of(result.Run), new(
                "Transport",
                result.Transport.Length > 0 ? result.Transport : "unknown: the proxies were already running"),
        ],
    }, result is null ? counts.Failed : 0);

    private static KeyFigures Figures(TraceCounts counts, LegTimes whole) => new(
        new KeyFigure(Numbers.Whole(counts.PerS), "/s", "answers, over the whole run"),
        new KeyFigure(Numbers.Significant(whole.Percentile(0.5)), "ms", "median latency of the answered payments"),
        new KeyFigure(Numbers.Significant(whole.Percentile(0.99)), "ms", "99th percentile"),
        new KeyFigure(Numbers.Significant(whole.Max), "ms", "longest latency"),
        new KeyFigure(
            Numbers.Whole(counts.Failed), "",
            counts.Failed == 1 ? "failed" : "failed, of " + Numbers.Whole(counts.Sent)));

    /// <summary>Shows the legs' shares among payments of similar latency, because percentiles of
    /// legs do not add up.</summary>
    private static StackedBars Path(IReadOnlyList<TracedPayment> payments)
    {
        var legs = Leg.Of(payments);
        var complete = payments.Where(p => p.IsAnswered && legs.All(l => p.Has(l.From) && p.Has(l.To)))
            .OrderBy(p => p.Milliseconds(Leg.StartOf(payments), Moment.Returned)).ToList();
        (string Label, double From, double To)[] bands =
            [
                ("typical (p45–p55)", 0.45, 0.55), ("slow (p89–p91)", 0.89, 0.91),
                ("slower (p98.5–p99.5)", 0.985, 0.995), ("slowest 0.5 %", 0.995, 1),
            ];
        return new StackedBars(
            "Delay per step, in milliseconds", Delay, [.. legs.Select(l => l.Name)],
            [
                .. bands.Select(band =>
                    Band(band.Label, complete[Index(band.From)..Math.Max(Index(band.To), Index(band.From))], legs)),
            ])
        {
            Note =
                "The mean of each step among payments of similar total latency, which is given after each bar. "
                + "Kafka's timestamps are in whole milliseconds.",
        };

        int Index(double share) => (int)Math.Round(share * complete.Count);
    }

    private static Stack Band(string label, List<TracedPayment> band, IReadOnlyList<Leg> legs) => new(
        label, [.. legs.Select(leg => band.Count == 0 ? 0 : band.Average(p => p.Milliseconds(leg.From, leg.To) ?? 0))]);

    private static IEnumerable<Table> Steps(IReadOnlyList<LegSummary> steps)
    {
        var decimals = steps.Any(s => s.P90Ms >= 100) ? 1 : 2;
        yield return Percentiles("Duration of each step", steps.Where(s => !Leg.IsMilestone(s.Name)), decimals) with
        {
            Note =
                $"The percentiles of the steps do not add up to those of the {Leg.TotalName}: "
                + "the slowest payments of one step are not the slowest of every other.",
        };
        yield return Percentiles(
            FromStart("Time since the payment", steps.FirstOrDefault(s => s.Name == Leg.TotalName)?.From),
            steps.Where(s => Leg.IsMilestone(s.Name)), decimals);
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
                .. steps.Select(
                    s => new Row(s.Name, Ms(s.P50Ms), Ms(s.P90Ms), Ms(s.P99Ms), Ms(s.P999Ms), Ms(s.MaxMs), Ms(s.MeanMs))
                    {
                        IsHighlighted = s.Name == Leg.TotalName,
                    }),
            ],
        };
    }

    private static string FromStart(string text, string? start) =>
        text
        + (string.Equals(start, nameof(Moment.Planned), StringComparison.OrdinalIgnoreCase) ? " was due" : " was sent");

    private static string StoreAndSending(TraceCounts counts, IReadOnlyList<TracedPayment> payments)
    {
        var late = NearestRank.Percentile(
            [.. payments.Select(p => p.Milliseconds(Moment.Planned, Moment.Sent)).OfType<double>().Order()], 0.99);
        var answered = counts.Accepted + counts.Declined;
        var store = counts.InStore == 0
            ? "The event store was not queried for the payments."
            : $"Of {Numbers.Whole(answered)} answered payments, {Numbers.Whole(counts.InStore)} were found in the "
                + "event store under the version in their answers. The event store's timestamp is the time at which "
                + "the transaction that stored the event began, so it precedes the commit.";
        return $"{store}\n\nPayments were sent at a constant rate, independent of the answers. "
            + $"99 % were sent within {Numbers.Significant(late)} ms of the time at which they were due.";
    }
}
