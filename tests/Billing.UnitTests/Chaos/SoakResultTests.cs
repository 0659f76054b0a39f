using Billing.Chaos;
using Billing.Chaos.Faults;
using Billing.UnitTests.Auditing;

namespace Billing.UnitTests.Chaos;

public sealed class SoakResultTests
{
    private static readonly TrafficResult Traffic = new()
    {
        Payments = 100,
        Declined = 5,
        Duplicates = 5,
        Balances = 10,
        Lives = 7,
        StatusChanges = 8,
        Queued = 9,
        QueuedFailed = 1,
        Unanswered = 0,
        Retried = 3,
        AskedAgain = 1,
        Failures = new Dictionary<string, long> { ["Unavailable"] = 1 },
        Violations = [],
    };

    private static readonly SoakResult Clean = new(
        Faults: [], LongestCalls: [], Offsets: [], Slowest: [], Traffic, EndedThemselves: 0, BadRecords: 28,
        DeadLetters: 28, Direct: 10, Forgotten: [], Unpublished: [], Unchained: [],
        AuditResults.Clean(acknowledged: 100, balancesTold: 10));

    [Fact]
    public void A_soak_without_a_fault_is_clean()
    {
        Assert.Empty(Clean.Wrong);
        Assert.True(Clean.IsClean);
    }

    [Fact]
    public void A_service_that_ends_by_itself_is_a_fault() =>
        Finds("1 services ended by themselves", Of(endedThemselves: 1));

    [Fact]
    public void After_a_loss_of_power_services_may_end_by_themselves() =>
        Assert.True(Of(endedThemselves: 1, fault: FaultKind.LosePower).IsClean);

    [Fact]
    public void A_bad_record_that_is_missing_in_the_dead_letters_is_a_fault() =>
        Finds("1 bad records are not in the dead letters", Of(putAside: 27));

    [Fact]
    public void A_payment_without_an_answer_is_a_fault() =>
        Finds("2 payments have no answer", Of(Traffic with { Unanswered = 2 }));

    [Fact]
    public void A_missing_payment_in_the_journal_is_a_fault() =>
        Finds(
            "clients received 101 answers to payments; their journals contain 100",
            Of(Traffic with { Payments = 101 }));

    [Fact]
    public void A_missing_balance_in_the_journal_is_a_fault() =>
        Finds(
            "clients received 11 balances in other answers; their journals contain 10",
            Of(Traffic with { Balances = 11 }));

    [Theory]
    [InlineData(0)]
    [InlineData(100)]
    public void Traffic_with_no_or_only_declined_payments_is_a_fault(int declined) =>
        Finds("payments", Of(Traffic with { Declined = declined }));

    [Fact]
    public void A_violation_is_a_fault() => Finds("violation: unequal", Of(Traffic with { Violations = ["unequal"] }));

    [Fact]
    public void An_unrecorded_command_and_an_event_that_is_not_published_or_not_chained_are_faults()
    {
        var result = Of(forgotten: "t1", unpublished: "visa/a@1", unchained: "visa/b version 1");

        Assert.False(result.IsClean);
        Assert.Equal(
            ["command not recorded: t1", "event not published: visa/a@1", "event not chained: visa/b version 1"],
            result.Wrong);
    }

    [Fact]
    public void A_finding_of_the_audit_is_a_fault()
    {
        var audit = AuditResults.Clean(acknowledged: 100, balancesTold: 10);
        audit.Misjudged.Add($"visa/a version 1: accepted");
        var result = new SoakResult([], [], [], [], Traffic, 0, 0, 0, 0, [], [], [], audit);

        Assert.Empty(result.Wrong);
        Assert.False(result.IsClean);
    }

    private static void Finds(string fault, SoakResult result)
    {
        Assert.Contains(fault, Assert.Single(result.Wrong), StringComparison.Ordinal);
        Assert.False(result.IsClean);
    }

    private static SoakResult Of(
        TrafficResult? traffic = null, int endedThemselves = 0, int putAside = 28, string? forgotten = null,
        string? unpublished = null, string? unchained = null, FaultKind? fault = null) => new(
        fault is { } kind ? [new(new(TimeSpan.Zero, kind, 1, TimeSpan.Zero), 0, 0)] : [], [], [], [],
        traffic ?? Traffic, endedThemselves, BadRecords: 28, putAside, Direct: 10, forgotten is null ? [] : [forgotten],
        unpublished is null ? [] : [unpublished], unchained is null ? [] : [unchained], Clean.Audit);
}
