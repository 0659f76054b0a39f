using System.Globalization;
using Billing.Chaos;
using Spectre.Console;

namespace Billing.Measuring.Soaks;

/// <summary>Prints a soak: what each kind of fault cost the callers, what they saw, and the audit.</summary>
internal static class ChaosTable
{
    private const int NamedMax = 10;

    public static void Print(IAnsiConsole console, ChaosReport report, SoakResult result)
    {
        var table = new Table().Border(TableBorder.Rounded)
            .Title("Longest wait for an answer, retries included, in seconds")
            .AddColumns("Fault", "Times", "Longest", "Target", "");
        foreach (var column in table.Columns.Skip(1).Take(3))
        {
            column.RightAligned();
        }
        foreach (var kind in report.Kinds)
        {
            table.AddRow(
                kind.Kind, Text($"{kind.Times}"), Text($"{kind.LongestCallS:0.00}"),
                kind.TargetS is { } target ? Text($"< {target}") : "", kind.Missed ? "[red]MISSED[/]" : "");
        }
        console.Write(table);
        console.WriteLine(Text(
            $"{report.Payments} payments answered, {report.Declined} of them declined, {report.SentTwice} of them sent twice at once, {report.Balances} balance checks; {report.Retried} calls sent again by the client, {report.AskedAgain} asked again."));
        PrintFailures(console, report);
        AuditTable.Print(console, result.Audit);
        console.WriteLine(Text($"Commands sent past the proxies and never again: acknowledged {report.Direct}, forgotten {report.Forgotten.Count}; events recorded and not published: {report.Unpublished.Count}; bad records {report.BadRecords}, put aside {report.PutAside}"));
        foreach (var fault in report.Wrong.Take(NamedMax))
        {
            console.WriteLine("  " + fault);
        }
        if (report.Wrong.Count > NamedMax)
        {
            console.WriteLine(Text($"  ... and {report.Wrong.Count - NamedMax} more"));
        }
        foreach (var kind in report.Kinds.Where(k => k.Missed))
        {
            console.WriteLine(Text($"TARGET MISSED: {kind.Kind} kept a caller waiting for {kind.LongestCallS:0.00} s; the target is {kind.TargetS} s."));
        }
        console.WriteLine(result.IsClean ? "Clean: nothing lost, nothing doubled, no answer wrong." : "NOT CLEAN.");
    }

    private static void PrintFailures(IAnsiConsole console, ChaosReport report)
    {
        foreach (var (failure, count) in report.Failures.OrderByDescending(f => f.Value))
        {
            console.WriteLine(Text($"  {count} x {failure}"));
        }
    }

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
