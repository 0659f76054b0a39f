using System.Globalization;
using Billing.Auditing;
using Billing.LocalStack;
using Billing.Reporting;
using Spectre.Console;

namespace Billing.Measuring;

/// <summary>The audit of the event store after a measurement: the figures of a system that lost or doubled payments are not
/// valid.</summary>
internal static class StoreAudit
{
    /// <summary>Audits a stack's event store and prints the result.</summary>
    /// <param name="stack">The stack, which is no longer under load.</param>
    /// <param name="journals">The clients' journals; empty if the clients write none.</param>
    /// <param name="sent">All payments that were sent to the stack.</param>
    /// <param name="console">The console to print to.</param>
    /// <param name="cancellationToken">Cancels the audit.</param>
    public static async Task<AuditCounts> AuditAsync(
        BillingStack stack, IReadOnlyList<string> journals, SentPayments sent, IAnsiConsole console, CancellationToken cancellationToken)
    {
        var audit = await new Auditor(stack.ConnectionString).RunAsync(journals, cancellationToken);
        AuditTable.Print(console, audit);
        return Count(audit, sent, console);
    }

    /// <summary>Returns the counts of an audit, and one miscount unless the store holds an event of every answered payment, and no others
    /// than those of unanswered payments.</summary>
    public static AuditCounts Count(AuditResult audit, SentPayments sent, IAnsiConsole console)
    {
        var unanswered = sent.Unanswered + audit.Unanswered;
        if (audit.Events >= sent.Answered && audit.Events <= sent.Answered + unanswered)
        {
            return AuditCounts.Of(audit);
        }
        console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"  {sent.Answered} payments answered, {unanswered} not; the event store holds {audit.Events} events"));
        return AuditCounts.Of(audit, miscounted: 1);
    }

    /// <summary>Whether there was at least one audit and all audits are clean.</summary>
    public static bool AreClean(IReadOnlyList<AuditCounts> audits) => audits.Count > 0 && audits.All(a => a.IsClean);

    /// <summary>The result of the audits, for a page.</summary>
    public static Fact Fact(IReadOnlyList<AuditCounts> audits) => new("Audit", audits.Count == 0
        ? "not made"
        : string.Create(CultureInfo.InvariantCulture,
            $"{audits.Sum(a => a.Events)} events: {(AreClean(audits) ? "clean" : "NOT CLEAN")}"));
}
