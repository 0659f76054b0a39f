
namespace Billing.Measuring.Tracing;

/// <summary>The interval between two steps of a payment.</summary>
/// <param name="Name">Its name in reports and results.</param>
/// <param name="From">The step at which it begins.</param>
/// <param name="To">The step at which it ends.</param>
public sealed record Leg(string Name, Moment From, Moment To)
{
    /// <summary>The name of the leg from the first step to the last.</summary>
    public const string TotalName = "whole way";

    private static readonly (string Name, Moment Moment)[] MilestoneMoments =
    [
        ("until in Kafka", Moment.Appended),
        ("until with the backend", Moment.Consumed),
        ("until stored", Moment.Stored),
        ("until the event store's timestamp", Moment.Recorded),
        ("until answered by the proxy", Moment.Answered),
    ];

    private static readonly Dictionary<Moment, string> Names = new()
    {
        [Moment.Sent] = "wait to be sent",
        [Moment.Received] = "client → proxy",
        [Moment.Appended] = "proxy → Kafka",
        [Moment.Consumed] = "Kafka → backend",
        [Moment.Decided] = "authorise, decide",
        [Moment.Stored] = "store, commit",
        [Moment.Replied] = "make the reply",
        [Moment.Answered] = "backend → proxy",
        [Moment.Returned] = "proxy → client",
    };

    /// <summary>Returns the leg from the first step of payments to the last.</summary>
    public static Leg Whole(IReadOnlyCollection<TracedPayment> payments) =>
        new(TotalName, StartOf(payments), Moment.Returned);

    /// <summary>Returns the milestones: legs that all begin at the first step and therefore overlap.
    /// One of them ends at the event store's own timestamp.</summary>
    public static IReadOnlyList<Leg> Milestones(IReadOnlyCollection<TracedPayment> payments)
    {
        var start = StartOf(payments);
        return [.. MilestoneMoments.Select(milestone => new Leg(milestone.Name, start, milestone.Moment))];
    }

    /// <summary>Whether a leg of that name is a milestone.</summary>
    public static bool IsMilestone(string name) => Array.Exists(MilestoneMoments, milestone => milestone.Name == name);

    /// <summary>Returns the first step of payments: the moment at which they were due, because a delay before sending
    /// is part of the caller's wait; or the sending, if they had no due time, as in a closed loop.</summary>
    public static Moment StartOf(IReadOnlyCollection<TracedPayment> payments) =>
        payments.Count(p => p.Has(Moment.Planned)) * 2 > payments.Count ? Moment.Planned : Moment.Sent;

    /// <summary>Returns the consecutive legs of payments, between the steps that most of the
    /// answered payments have.</summary>
    public static IReadOnlyList<Leg> Of(IReadOnlyCollection<TracedPayment> payments)
    {
        var answered = payments.Where(p => p.IsAnswered).ToList();
        var steps = Names.Keys.Prepend(Moment.Planned)
            .Where(s => answered.Count(p => p.Has(s)) * 2 > answered.Count).ToList();
        return
        [
            .. steps.Zip(steps.Skip(1)).Select(pair => new Leg(
                pair is (Moment.Received, Moment.Consumed) ? "proxy → backend" : Names[pair.Second],
                pair.First, pair.Second)),
        ];
    }
}

/// <summary>The durations of a leg, in milliseconds.</summary>
/// <param name="Sorted">The durations of all payments for which both steps are known, in ascending order.</param>
public sealed record LegTimes(Leg Leg, IReadOnlyList<double> Sorted)
{
    /// <summary>Returns the durations of a leg.</summary>
    public static LegTimes Of(Leg leg, IEnumerable<TracedPayment> payments) => new(
        leg,
        [.. payments.Where(p => p.IsAnswered).Select(p => p.Milliseconds(leg.From, leg.To)).OfType<double>().Order()]);

    /// <summary>The mean; zero if there are no durations.</summary>
    public double Mean => Sorted.Count == 0 ? 0 : Sorted.Average();

    /// <summary>The longest duration; zero if there are none.</summary>
    public double Max => Sorted.Count == 0 ? 0 : Sorted[^1];

    /// <summary>Returns a percentile by the nearest-rank method; zero if there are no durations.</summary>
    /// <param name="share">The percentile as a fraction, above 0, up to 1.</param>
    public double Percentile(double share) => NearestRank.Percentile(Sorted, share);
}
