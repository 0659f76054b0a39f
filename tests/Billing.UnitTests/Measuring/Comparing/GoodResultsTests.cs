using Billing.Auditing;
using Billing.Measuring;
using Billing.Measuring.Comparing.Eda;
using Billing.Measuring.Sweeping;
using Billing.Reporting;
using Billing.UnitTests.Auditing;
using Spectre.Console;

namespace Billing.UnitTests.Measuring.Comparing;

/// <summary>The results with which a measurement fails, whatever its throughput and latencies.</summary>
public sealed class GoodResultsTests
{
    private static readonly AuditCounts Clean = ExampleResults.Clean;

    public static TheoryData<string> Kinds => [.. ExampleResults.Kinds];

    public static TheoryData<string> Audited => [.. ExampleResults.Audited];

    public static TheoryData<string> AuditedApart => [.. ExampleResults.AuditedApart];

    [Theory]
    [MemberData(nameof(Kinds))]
    public void Results_with_clean_audits_and_no_failed_request_are_good(string kind) => Assert.True(ExampleResults.Of(kind, [Clean, Clean]).Results.IsGood);

    [Theory]
    [MemberData(nameof(Kinds))]
    public void Results_with_a_failed_request_are_not_good(string kind) => Assert.False(ExampleResults.Of(kind, [Clean, Clean], failed: 1).Results.IsGood);

    [Theory]
    [MemberData(nameof(Audited))]
    [InlineData("sweep")]
    public void Results_with_an_audit_that_is_not_clean_are_not_good(string kind)
    {
        foreach (var unclean in new[]
        {
            Clean with { Lost = 1 }, Clean with { Doubled = 1 }, Clean with { Wrong = 1 }, Clean with { Holes = 1 },
            Clean with { Unbalanced = 1 }, Clean with { Misjudged = 1 }, Clean with { Miscounted = 1 },
            Clean with { Unexplained = 1 }, Clean with { FailedYetRecorded = 1 }, Clean with { Reordered = 1 }, Clean with { Stale = 1 },
        })
        {
            Assert.False(ExampleResults.Of(kind, [Clean, unclean]).Results.IsGood);
        }
    }

    [Theory]
    [MemberData(nameof(AuditedApart))]
    public void Results_without_an_audit_are_not_good(string kind) => Assert.False(ExampleResults.Of(kind, []).Results.IsGood);

    [Fact]
    public void A_sweep_of_running_proxies_needs_no_audit() => Assert.True(ExampleResults.Of("sweep", []).Results.IsGood);

    [Fact]
    public void A_sweep_may_have_failures_in_its_search_but_not_in_its_final_configurations()
    {
        var (good, failing) = (ExampleResults.Cell(4, 8, 1000), ExampleResults.Cell(4, 16, 2000, failed: 1));

        Assert.True(IsGood(ExampleResults.Sweep([], [good, failing])));
        Assert.True(IsGood(ExampleResults.Sweep([], [good, failing], new RepeatedConfiguration(4, 8, [good]))));
        Assert.False(IsGood(ExampleResults.Sweep([], [failing])));
        Assert.False(IsGood(ExampleResults.Sweep([], [good, failing], new RepeatedConfiguration(4, 8, [good]), new RepeatedConfiguration(4, 16, [good, failing]))));
    }

    [Theory]
    [InlineData(EdaPhase.Ramped, false)]
    [InlineData(EdaPhase.Long, false)]
    [InlineData(EdaPhase.Overload, true)]
    [InlineData(EdaPhase.BackendKilled, true)]
    public void Requests_may_fail_only_in_phases_with_an_overload_or_a_killed_backend(object phase, bool isGood)
    {
        var (good, failing) = (ExampleResults.Round(0), ExampleResults.Round(1));

        Assert.Equal(isGood, IsGood(ExampleResults.Eda((EdaPhase)phase, good, failing, [Clean, Clean])));
        Assert.Equal(isGood, IsGood(ExampleResults.Eda((EdaPhase)phase, failing, good, [Clean, Clean])));
    }

    [Theory]
    [InlineData(100, 100, 0, 0)]
    [InlineData(99, 100, 0, 1)]
    [InlineData(101, 100, 0, 1)]
    [InlineData(99, 100, 5, 1)]
    [InlineData(105, 100, 5, 0)]
    [InlineData(106, 100, 5, 1)]
    public void A_store_without_exactly_the_events_of_the_answered_payments_and_at_most_those_of_the_unanswered_is_miscounted(
        int events, int answered, int unanswered, int miscounted)
    {
        using var output = new StringWriter();
        var console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(output) });

        var counts = StoreAudit.Count(AuditResults.Clean(acknowledged: events), new SentPayments(answered, unanswered), console);

        Assert.Equal(miscounted, counts.Miscounted);
        Assert.Equal(miscounted == 0, counts.IsClean);
        Assert.Equal(miscounted == 1, output.ToString().Contains($"the event store holds {events} events", StringComparison.Ordinal));
    }

    private static bool IsGood(IResults results) => results.IsGood;
}
