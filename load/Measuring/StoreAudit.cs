using System.Globalization;
using Billing.Auditing;
using Billing.LocalStack;
using Billing.Measuring.Loads;
using Billing.Operator.Audits;
using Billing.Reporting;
using Spectre.Console;

namespace Billing.Measuring;

/// <summary>The audit of the event store after a measurement: the figures of a system that lost or doubled
/// payments are not valid.</summary>
internal static class StoreAudit
{
    // The clocks of machines that follow the same servers by NTP; more than they differ by, since too little would
    // be a false finding.
    private static readonly TimeSpan ClocksOfHosts = TimeSpan.FromMilliseconds(100);

    /// <summary>Audits a stack's event store against the journals of all drivers that have loaded it,
    /// and prints the result.</summary>
    /// <param name="stack">The stack, which is no longer under load.</param>
    /// <param name="fleets">The drivers.</param>
    /// <param name="console">The console to print to.</param>
    public static Task<AuditCounts> AuditAsync(
        BillingStack stack, IReadOnlyList<Fleet> fleets, IAnsiConsole console, CancellationToken cancellationToken) =>
        AuditAsync([.. stack.Databases.Values], isOwn: stack.OwnsEventStore, fleets, console, cancellationToken);

    /// <summary>Audits an event store.</summary>
    /// <param name="databases">The connection strings of its databases.</param>
    /// <param name="isOwn">Whether nobody but the drivers has paid.</param>
    /// <param name="fleets">The drivers.</param>
    /// <param name="console">The console to print to.</param>
    public static async Task<AuditCounts> AuditAsync(
        IReadOnlyCollection<string> databases, bool isOwn, IReadOnlyList<Fleet> fleets,
        IAnsiConsole console, CancellationToken cancellationToken)
    {
        var audit = await new Auditor(databases)
        {
            JournalsAreComplete = isOwn,
            OpeningLimits = BillingStack.OpeningLimits,
            ClockTolerance = fleets.Any(f => f.Hosts.Count > 1) ? ClocksOfHosts : TimeSpan.Zero,
        }.RunAsync(fleets.SelectMany(f => f.Journals), cancellationToken);
        AuditTable.Print(console, audit);
        var differences = AnswerCount.Differences(
            audit, fleets.Sum(f => f.PaymentsAnswered), fleets.Sum(f => f.BalancesAnswered));
        foreach (var difference in differences)
        {
            console.WriteLine("  " + difference);
        }
        return AuditCounts.Of(audit, differences.Count);
    }

    /// <summary>Whether there was at least one audit and all audits are clean.</summary>
    public static bool AreClean(IReadOnlyList<AuditCounts> audits) => audits.Count > 0 && audits.All(a => a.IsClean);

    /// <summary>The result of the audits, for a page.</summary>
    public static Fact Fact(IReadOnlyList<AuditCounts> audits) => new("Audit", audits.Count == 0
        ? "not made"
        : string.Create(CultureInfo.InvariantCulture,
            $"{audits.Sum(a => a.Events)} events of {audits.Sum(a => a.Acknowledged)} answered payments: "
                + $"{(AreClean(audits) ? "clean" : "NOT CLEAN")}"));
}
