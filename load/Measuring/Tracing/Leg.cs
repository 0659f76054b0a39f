namespace Billing.Measuring.Tracing;

/// <summary>A part of a payment's way, from one step to another.</summary>
/// <param name="Name">What happens on it.</param>
/// <param name="From">Where it begins.</param>
/// <param name="To">Where it ends.</param>
public sealed record Leg(string Name, Moment From, Moment To)
{
    /// <summary>The whole way.</summary>
    public static Leg Whole { get; } = new("whole way", Moment.Sent, Moment.Returned);

    /// <summary>Parts that overlap the others: what must have happened by when. Where the events lie is told by the event store
    /// itself.</summary>
    public static IReadOnlyList<Leg> Milestones { get; } =
    [
        new("until in Kafka", Moment.Sent, Moment.Appended),
        new("until with the backend", Moment.Sent, Moment.Consumed),
        new("until stored", Moment.Sent, Moment.Stored),
        new("until the event store's timestamp", Moment.Sent, Moment.Recorded),
        new("until answered by the proxy", Moment.Sent, Moment.Answered),
    ];

    private static readonly Dictionary<Moment, string> Names = new()
    {
        [Moment.Received] = "client → proxy",
        [Moment.Appended] = "proxy → Kafka",
        [Moment.Consumed] = "Kafka → backend",
        [Moment.Decided] = "authorise, decide",
        [Moment.Stored] = "store, commit",
        [Moment.Replied] = "make the reply",
        [Moment.Answered] = "backend → proxy",
        [Moment.Returned] = "proxy → client",
    };

    /// <summary>The parts of the way of some payments, one after the other: between the steps that most of those that were
    /// answered have.</summary>
    public static IReadOnlyList<Leg> Of(IReadOnlyCollection<TracedPayment> payments)
    {
        var answered = payments.Where(p => p.IsAnswered).ToList();
        var steps = Names.Keys.Prepend(Moment.Sent).Where(s => answered.Count(p => p.Has(s)) * 2 > answered.Count).ToList();
        return
        [
            .. steps.Zip(steps.Skip(1)).Select(pair => new Leg(
                pair is (Moment.Received, Moment.Consumed) ? "proxy → backend" : Names[pair.Second], pair.First, pair.Second)),
        ];
    }
}

/// <summary>How long a leg took, in milliseconds.</summary>
/// <param name="Leg">The leg.</param>
/// <param name="Sorted">Of all payments whose times it is known for, in ascending order.</param>
public sealed record LegTimes(Leg Leg, IReadOnlyList<double> Sorted)
{
    /// <summary>The times of a leg.</summary>
    public static LegTimes Of(Leg leg, IEnumerable<TracedPayment> payments) => new(
        leg, [.. payments.Where(p => p.IsAnswered).Select(p => p.Milliseconds(leg.From, leg.To)).OfType<double>().Order()]);

    /// <summary>The mean; zero where there is none.</summary>
    public double Mean => Sorted.Count == 0 ? 0 : Sorted.Average();

    /// <summary>The longest.</summary>
    public double Max => Sorted.Count == 0 ? 0 : Sorted[^1];

    /// <summary>The least of the times that at least this share of them do not exceed; zero where there is none.</summary>
    /// <param name="share">Above 0, up to 1.</param>
    public double Percentile(double share) => Percentile(Sorted, share);

    internal static double Percentile(IReadOnlyList<double> sorted, double share) => sorted.Count == 0
        ? 0
        : sorted[Math.Clamp((int)Math.Ceiling((share * sorted.Count) - 1e-9) - 1, 0, sorted.Count - 1)];
}
