using System.Globalization;
using Billing.Auditing;
using Billing.LocalStack;
using Billing.Reporting;
using Spectre.Console;

namespace Billing.Measuring;

/// <summary>The audit after a measurement: figures of a system that lost or doubled payments are worth nothing.</summary>
internal static class Books
{
    /// <summary>Audits a stack's store, and prints what was found.</summary>
    /// <param name="stack">The stack, which nothing loads any more.</param>
    /// <param name="journals">What clients noted; none where they do not.</param>
    /// <param name="answered">Payments that clients counted as answered; the store must hold at least as many events.</param>
    /// <param name="console">Where to print.</param>
    /// <param name="cancellationToken">Ends it.</param>
    public static async Task<AuditCounts> AuditAsync(
        BillingStack stack, IReadOnlyList<string> journals, long answered, IAnsiConsole console, CancellationToken cancellationToken)
    {
        var audit = await new Auditor(stack.ConnectionString).RunAsync(journals, cancellationToken);
        AuditTable.Print(console, audit);
        return Count(audit, answered, console);
    }

    /// <summary>The counts of an audit, with whether the store holds too few events.</summary>
    public static AuditCounts Count(AuditResult audit, long answered, IAnsiConsole console)
    {
        if (audit.Events >= answered)
        {
            return AuditCounts.Of(audit);
        }
        console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"  clients counted {answered} payments as answered; the store holds {audit.Events} events"));
        return AuditCounts.Of(audit, miscounted: 1);
    }

    /// <summary>Whether there were audits, and all were clean.</summary>
    public static bool AreClean(IReadOnlyList<AuditCounts> audits) => audits.Count > 0 && audits.All(a => a.IsClean);

    /// <summary>What the audits found, for a page.</summary>
    public static Fact Fact(IReadOnlyList<AuditCounts> audits) => new("Audit", audits.Count == 0
        ? "none was made"
        : string.Create(CultureInfo.InvariantCulture,
            $"{audits.Sum(a => a.Events)} events: {(AreClean(audits) ? "clean" : "NOT CLEAN")}"));
}
