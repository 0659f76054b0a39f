using Billing.Client.Load;

namespace Billing.Measuring.Tracing;

/// <summary>A part of a payment's way, from one step to another.</summary>
/// <param name="Name">What happens on it.</param>
/// <param name="From">Where it begins.</param>
/// <param name="To">Where it ends.</param>
public sealed record Leg(string Name, Moment From, Moment To)
{
    /// <summary>What the whole way is called.</summary>
    public const string WholeName = "whole way";

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

    /// <summary>The whole way of some payments.</summary>
    public static Leg Whole(IReadOnlyCollection<TracedPayment> payments) => new(WholeName, StartOf(payments), Moment.Returned);

    /// <summary>Parts that overlap the others: what must have happened by when. Where the events lie is told by the event store
    /// itself.</summary>
    public static IReadOnlyList<Leg> Milestones(IReadOnlyCollection<TracedPayment> payments)
    {
        var start = StartOf(payments);
        return [.. MilestoneMoments.Select(milestone => new Leg(milestone.Name, start, milestone.Moment))];
    }

    /// <summary>Whether a leg of that name is a milestone.</summary>
    public static bool IsMilestone(string name) => Array.Exists(MilestoneMoments, milestone => milestone.Name == name);

    /// <summary>Where the way of some payments begins: when they were due, since what keeps the sender from sending is part of what a
    /// caller waits for; or when they were sent, where nothing was due, as in a closed loop.</summary>
    public static Moment StartOf(IReadOnlyCollection<TracedPayment> payments) =>
        payments.Count(p => p.Has(Moment.Planned)) * 2 > payments.Count ? Moment.Planned : Moment.Sent;

    /// <summary>The parts of the way of some payments, one after the other: between the steps that most of those that were
    /// answered have.</summary>
    public static IReadOnlyList<Leg> Of(IReadOnlyCollection<TracedPayment> payments)
    {
        var answered = payments.Where(p => p.IsAnswered).ToList();
        var steps = Names.Keys.Prepend(Moment.Planned).Where(s => answered.Count(p => p.Has(s)) * 2 > answered.Count).ToList();
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
    public double Percentile(double share) => NearestRank.Percentile(Sorted, share);
}
