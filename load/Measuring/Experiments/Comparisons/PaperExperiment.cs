using Billing.Driver;
using Billing.LocalStack;
using Billing.Reporting;
using Spectre.Console;

namespace Billing.Measuring.Experiments.Comparisons;

/// <summary>The billing prototype's two tables: three clients send all their payments at once, with one and with three
/// backends, without and with jitter; in the paper's own shape, cold and warm, and in ours.</summary>
internal static class PaperExperiment
{
    private const int Clients = 3;

    // The paper does not state how many balance checks its clients sent beside the payments in the runs with jitter.
    private const int PaymentsForEachBalance = 10;

    private static readonly int[] Backends = [1, 3];

    private static readonly Figure[] Columns =
    [
        Figure.ShortestS, Figure.LongestS, Figure.AverageS, Figure.CallShortestS, Figure.CallLongestS,
        Figure.CallAverageS, Figure.DurationS, Figure.Failed,
    ];

    /// <summary>The published numbers of requests of each client.</summary>
    public static IReadOnlyList<int> Requests { get; } = [5_000, 10_000, 25_000];

    public static Experiment Plan(IReadOnlyList<int> requests, int rounds, int warmUp, IAnsiConsole console) => new()
    {
        Kind = "compare-paper",
        Title = "The billing prototype's measurements, repeated",
        Paper = Sources.Prototype,
        Facts =
        [
            new Fact(
                "The paper's shape",
                "payments and balances of Visa alone, one topic of five partitions for each, replicated to three "
                    + "brokers with 256 MB of heap; three clients, three proxies, one or three backends of each kind; "
                    + "on this one machine, where the paper had fifteen (t2.micro); "
                    + "every payment is stored, where the paper's stored nothing"),
            new Fact(
                "Our shape", "payments of all four types, one broker, as many partitions as give every backend one"),
            new Fact(
                "Cold and warm",
                "cold: the stack and the clients have just started, which is how the paper's console programs were "
                    + $"run; warm: the stack runs all the time, and each client first sends {Numbers.Whole(warmUp)} "
                    + "payments that are not measured"),
            new Fact(
                "Balances",
                $"with jitter one balance check for every {PaymentsForEachBalance} payments, because the paper does "
                    + "not state the number; the figures are those of payments, as in the paper"),
            new Fact(
                "Times",
                "since the start of the burst, at which all payments are due, so the time that clients take to send "
                    + "counts; the time of a single call begins when its client sends it, as the "
                    + "paper's stopwatches did"),
        ],
        Sections =
        [
            .. Shapes.Select(shape => new SectionPlan(shape.Title, "Payments of each client", Columns)
            {
                Charted = Figure.LongestS,
                Note = "published: the paper's shortest, longest and average; "
                    + "it does not say whether the machines were warm.",
            }),
        ],
        Parts = [.. Shapes.Select(shape => PartOf(shape, requests, rounds, warmUp, console))],
    };

    private static IEnumerable<Shape> Shapes =>
        from jitter in (bool[])[false, true]
        from kind in new[]
        {
            (IsPapers: true, IsCold: true), (IsPapers: true, IsCold: false), (IsPapers: false, IsCold: false),
        }
        select new Shape(kind.IsPapers, kind.IsCold, jitter);

    private static Part PartOf(
        Shape shape, IReadOnlyList<int> requests, int rounds, int warmUp, IAnsiConsole console) => new(
        [.. Backends.Select(backends => StackSide.Plan(SideOf(backends), Stack(shape, backends), console))],
        [
            .. requests.Select(count => new Case(shape.Title, Numbers.Whole(count), (side, cancellationToken) =>
                BurstAsync(side, Load(shape, count, warmUp), cancellationToken)) with
            {
                Published = new Dictionary<string, IReadOnlyDictionary<string, double>>(
                    from backends in Backends
                    let published = Published(count, backends, shape.HasJitter)
                    where published is not null
                    select KeyValuePair.Create(SideOf(backends), published)),
            }),
        ],
        rounds)
        {
            IsCold = shape.IsCold,
        };

    private static string SideOf(int backends) => Numbers.Counted(backends, "backend");

    private static StackOptions Stack(Shape shape, int backends) => new()
    {
        PaymentBackends = backends,
        BalanceBackends = backends,
        Jitter = shape.HasJitter,
        Brokers = shape.IsPapers ? 3 : 1,
        Partitions = shape.IsPapers ? 5 : 0,
        BrokerJavaOptions = shape.IsPapers ? ["-Xms256m", "-Xmx256m"] : [],
    };

    private static LoadSpec Load(Shape shape, int requests, int warmUp) => new()
    {
        Addresses = [],
        Shape = new LoadShape.Burst(requests, shape.HasJitter ? requests / PaymentsForEachBalance : 0),
        WarmUp = shape.IsCold ? null : LoadShape.WarmUpOf(warmUp),
        PaymentTypes = shape.IsPapers ? ["VISA"] : [],
        DeadlineS = 120,
    };

    private static async Task<Measured> BurstAsync(Side side, LoadSpec load, CancellationToken cancellationToken)
    {
        var figures = await side.LoadAsync(load, Clients, cancellationToken);
        var payments = Measured.Of(figures.Phases[0] with { All = figures.Phases[0].Payments }, figures.DurationS, 0);
        return new Measured(
            new Dictionary<string, double>(payments.Figures) { [Figure.DurationS.Id] = figures.DurationS },
            figures.All.Errors);
    }

    /// <summary>The figures published in <see cref="Sources.Prototype"/>, by figure: three clients, three proxies and
    /// three brokers, each on a t2.micro of its own; null for a case without.</summary>
    public static IReadOnlyDictionary<string, double>? Published(int requests, int backends, bool hasJitter) =>
        (requests, backends, hasJitter) switch
        {
            (5_000, 1, false) => Row(1.86, 3.10, 2.38),
            (5_000, 3, false) => Row(1.88, 3.17, 2.42),
            (10_000, 1, false) => Row(1.74, 4.20, 2.67),
            (10_000, 3, false) => Row(1.68, 4.29, 2.65),
            (25_000, 1, false) => Row(1.77, 7.89, 4.66),
            (25_000, 3, false) => Row(1.66, 7.89, 4.45),
            (5_000, 1, true) => Row(3.28, 6.22, 4.53),
            (5_000, 3, true) => Row(3.03, 6.36, 4.41),
            (10_000, 1, true) => Row(2.92, 8.78, 5.12),
            (10_000, 3, true) => Row(2.74, 8.20, 4.64),
            (25_000, 1, true) => Row(3.01, 17.12, 9.18),
            (25_000, 3, true) => Row(2.69, 14.16, 7.73),
            _ => null,
        };

    private static Dictionary<string, double> Row(double shortest, double longest, double average) =>
        new() { [Figure.ShortestS.Id] = shortest, [Figure.LongestS.Id] = longest, [Figure.AverageS.Id] = average };

    private sealed record Shape(bool IsPapers, bool IsCold, bool HasJitter)
    {
        public string Title =>
            $"{(IsPapers ? "The paper's shape" : "Our shape")}, {(IsCold ? "cold" : "warm")}, "
            + (HasJitter ? "with jitter: the card network takes 100 to 1,000 ms" : "without jitter");
    }
}
