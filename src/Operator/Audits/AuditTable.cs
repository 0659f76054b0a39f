using System.Globalization;
using Billing.Auditing;
using Spectre.Console;

namespace Billing.Operator.Audits;

/// <summary>Prints the result of an audit.</summary>
internal static class AuditTable
{
    private const int NamedMax = 10;

    /// <summary>Prints the counts of an audit and the first findings of each kind.</summary>
    public static void Print(IAnsiConsole console, AuditResult audit)
    {
        var faults = string.Join(", ", audit.Faults.Select(fault => Text($"{fault.Count} {fault.Found.Count}")));
        console.WriteLine(Text($"Audit: acknowledged {audit.Acknowledged}, recorded {audit.Recorded}, {faults}"));
        console.WriteLine(Text(
            $"  {audit.Accounts} accounts recomputed from {audit.Events} events, with {audit.Receipts} receipts."));
        if (audit.BalancesInAnswers > 0)
        {
            console.WriteLine(
                Text($"  {audit.BalancesInAnswers} balances in answers to clients compared with the events."));
        }
        if (audit.BalancesRead > 0)
        {
            console.WriteLine(
                Text($"  {audit.BalancesRead} balances read from the proxies and compared with the events."));
        }
        if (audit.Unanswered > 0)
        {
            console.WriteLine(Text(
                $"  Of {audit.Unanswered} payments without an answer, {audit.UnansweredRecorded} are recorded."));
        }
        foreach (var (_, one, found) in audit.Faults)
        {
            Name(console, one, found);
        }
    }

    private static void Name(IAnsiConsole console, string kind, Findings found)
    {
        foreach (var item in found.Take(NamedMax))
        {
            console.WriteLine($"  {kind}: {item}");
        }
        if (found.Count > NamedMax)
        {
            console.WriteLine(Text($"  ... and {found.Count - NamedMax} more {kind}"));
        }
    }

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
