using Billing.Auditing;
using Billing.Measuring;
using Billing.Measuring.Comparing.Ceiling;
using Billing.Measuring.Comparing.Eda;
using Billing.Measuring.Comparing.Scale;
using Billing.Measuring.Driving;
using Billing.Measuring.Sweeping;
using Billing.UnitTests.Auditing;
using Billing.UnitTests.Measuring.Profiling;
using Spectre.Console;

namespace Billing.UnitTests.Measuring.Comparing;

/// <summary>Which results make a measurement fail, however good its figures look.</summary>
public sealed class GoodResultsTests
{
    private static readonly RunInfo Complete = new("c", DateTimeOffset.UnixEpoch, true, new Machine("Linux", ".NET", 2, 4));
    private static readonly LatencyFigures Latency = new(1, 2, 2, 3, 4, 5, 6, 7);
    private static readonly AuditCounts Clean = new(0, 0, 0, 0, 0, 0, 0, 10, 100);
    private static readonly EdaRound Good = new(100, 99, 0, new Dictionary<string, long>(), Latency, new Dictionary<string, double>());
    private static readonly EdaRound Failing = Good with { ErrorPercent = 1 };

    public static TheoryData<string> Measurements => ["eda", "scale", "ceiling", "sweep", "profile"];

    [Theory]
    [MemberData(nameof(Measurements))]
    public void With_clean_books_they_are_good(string measurement) => Assert.True(Results(measurement, [Clean, Clean]).IsGood);

    [Theory]
    [MemberData(nameof(Measurements))]
    public void With_books_that_are_not_clean_they_are_not(string measurement)
    {
        foreach (var unclean in new[]
        {
            Clean with { Lost = 1 }, Clean with { Doubled = 1 }, Clean with { Wrong = 1 }, Clean with { Holes = 1 },
            Clean with { Unbalanced = 1 }, Clean with { Misjudged = 1 }, Clean with { Miscounted = 1 },
        })
        {
            Assert.False(Results(measurement, [Clean, unclean]).IsGood);
        }
    }

    [Theory]
    [InlineData("eda")]
    [InlineData("scale")]
    [InlineData("ceiling")]
    [InlineData("profile")]
    public void Without_an_audit_they_are_not(string measurement) => Assert.False(Results(measurement, []).IsGood);

    [Fact]
    public void A_sweep_of_proxies_that_ran_already_has_no_books() => Assert.True(Results("sweep", []).IsGood);

    [Theory]
    [InlineData(EdaPhase.Ramped, false)]
    [InlineData(EdaPhase.Long, false)]
    [InlineData(EdaPhase.Overload, true)]
    [InlineData(EdaPhase.BackendKilled, true)]
    public void Requests_may_fail_only_where_something_is_in_their_way(object phase, bool isGood)
    {
        Assert.Equal(isGood, ((IResults)Eda((EdaPhase)phase, Good, Failing)).IsGood);
        Assert.Equal(isGood, ((IResults)Eda((EdaPhase)phase, Failing, Good)).IsGood);
    }

    [Theory]
    [InlineData(100, 100, 0)]
    [InlineData(101, 100, 0)]
    [InlineData(99, 100, 1)]
    public void A_store_with_fewer_events_than_payments_were_answered_is_miscounted(int events, int answered, int miscounted)
    {
        using var output = new StringWriter();
        var console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(output) });

        var counts = Books.Count(AuditResults.Clean(acknowledged: events), answered, console);

        Assert.Equal(miscounted, counts.Miscounted);
        Assert.Equal(miscounted == 0, counts.IsClean);
        Assert.Equal(miscounted == 1, output.ToString().Contains("the store holds 99 events", StringComparison.Ordinal));
    }

    [Fact]
    public void A_profile_in_which_a_payment_failed_is_not() => Assert.False(((IResults)ProfileReports.With(Complete, failed: 1, Clean)).IsGood);

    private static IResults Results(string measurement, IReadOnlyList<AuditCounts> audits) => measurement switch
    {
        "eda" => Eda(EdaPhase.Long, Good, Good, audits),
        "scale" => new ScaleReport
        {
            Run = Complete,
            Rounds = 1,
            Work = ScaleWork.Default,
            Series = [new ScaleSeries(ScaleKind.Writes, [new ScaleStep(1, [new ScaleRound(200, 1, 2, 0)])])],
            Costs = [],
            Audits = audits,
        },
        "ceiling" => new CeilingReport
        {
            Run = Complete,
            Proxies = 3,
            Rounds = 1,
            Cases = [new CeilingCase("200 in flight", new CeilingSide([new CeilingRound(1, 250, 1, 2, 0)]), new CeilingSide([new CeilingRound(1, 1000, 1, 2, 0)]))],
            Audits = audits,
        },
        "profile" => ProfileReports.With(Complete, audits: audits),
        _ => new SweepReport
        {
            Mode = "static",
            Run = Complete,
            Requests = "payments",
            Workers = 1,
            LatencyBoundMs = 100,
            Protocols = [new ProtocolSweep(DriveProtocol.Unary, [Cell()], 100)],
            Audits = audits,
        },
    };

    private static EdaReport Eda(EdaPhase phase, EdaRound kafka, EdaRound direct, IReadOnlyList<AuditCounts>? audits = null) => new EdaReport
    {
        Run = Complete,
        Protocol = "grpc",
        Proxies = 3,
        Backends = 3,
        Rounds = 1,
        Cases = [new EdaCase(phase, 100, new EdaSide([kafka]), new EdaSide([direct]))],
        Audits = audits ?? [Clean, Clean],
    };

    private static SweepCell Cell() => new()
    {
        Connections = 4,
        InFlight = 8,
        DurationS = 3,
        Answers = 3000,
        PerSecond = 1000,
        Latency = Latency,
        Errors = new Dictionary<string, long>(),
        CpuS = new Dictionary<string, double>(),
    };
}
