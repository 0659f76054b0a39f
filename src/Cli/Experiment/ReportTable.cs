using System.Globalization;
using Billing.Cli.Auditing;
using Billing.Client.Load;
using Spectre.Console;

namespace Billing.Cli.Experiment;

/// <summary>Prints a run as the billing prototype did: number of requests, shortest, longest and average time for payments
/// and for balances, and the total time; and below it the audit.</summary>
internal static class ReportTable
{
    private const int NamedMax = 10;

    public static void Print(IAnsiConsole console, RunReport report, IReadOnlyCollection<LoadResult> results, AuditResult audit, IReadOnlyList<string> faults)
    {
        var table = new Table().Border(TableBorder.Rounded)
            .Title("Seconds until the answers: of each call, and since all were to be sent at once")
            .AddColumns("", "Count", "Shortest", "Longest", "Average", "p50", "p99", "Declined", "Errors");
        foreach (var column in table.Columns.Skip(1))
        {
            column.RightAligned();
        }
        AddRow(table, "Payments", report.Payments);
        if (report.Balances.Count > 0)
        {
            AddRow(table, "Balances", report.Balances);
        }
        console.Write(table);
        if (report.Payments.Errors + report.Balances.Errors > 0)
        {
            console.WriteLine(Text($"{report.Payments.Errors + report.Balances.Errors:N0} requests failed; the times are of the answered ones alone."));
        }
        console.WriteLine(Text($"Total time {report.TotalS:0.000} s, {report.RequestsPerS:N0} requests/s, {report.Retried} calls sent again."));
        PrintErrors(console, results);
        PrintAudit(console, audit);
        foreach (var fault in faults)
        {
            console.WriteLine("  " + fault);
        }
    }

    /// <summary>Prints an audit, naming what it found.</summary>
    public static void PrintAudit(IAnsiConsole console, AuditResult audit)
    {
        console.WriteLine(Text(
            $"Audit: acknowledged {audit.Acknowledged}, recorded {audit.Recorded}, wrong {audit.Wrong.Count}, lost {audit.Lost.Count}, doubled {audit.Doubled.Count}, holes {audit.Holes.Count}, unbalanced {audit.Unbalanced.Count}, misjudged {audit.Misjudged.Count}"));
        console.WriteLine(Text(
            $"  {audit.Accounts} accounts recomputed from {audit.Events} events, with {audit.Receipts} receipts."));
        if (audit.BalancesTold > 0)
        {
            console.WriteLine(Text($"  {audit.BalancesTold} balances that clients were told compared with the events."));
        }
        if (audit.BalancesAsked > 0)
        {
            console.WriteLine(Text($"  {audit.BalancesAsked} balances asked of the proxies."));
        }
        if (audit.Unanswered > 0)
        {
            console.WriteLine(Text(
                $"  Of {audit.Unanswered} payments without an answer, {audit.UnansweredRecorded} are recorded."));
        }
        Name(console, "lost", audit.Lost);
        Name(console, "doubled", audit.Doubled);
        Name(console, "wrong", audit.Wrong);
        Name(console, "hole", audit.Holes);
        Name(console, "unbalanced", audit.Unbalanced);
        Name(console, "misjudged", audit.Misjudged);
    }

    private static void Name(IAnsiConsole console, string what, Findings found)
    {
        foreach (var item in found.Take(NamedMax))
        {
            console.WriteLine($"  {what}: {item}");
        }
        if (found.Count > NamedMax)
        {
            console.WriteLine(Text($"  ... and {found.Count - NamedMax} more {what}"));
        }
    }

    private static void PrintErrors(IAnsiConsole console, IReadOnlyCollection<LoadResult> results)
    {
        var errors = results.SelectMany(r => r.Payments.Errors.Concat(r.Balances.Errors)).GroupBy(e => e.Key, e => e.Value);
        foreach (var error in errors)
        {
            console.WriteLine(Text($"  {error.Sum()} x {error.Key}"));
        }
    }

    private static void AddRow(Table table, string kind, KindReport figures)
    {
        table.AddRow(
            kind, Text($"{figures.Count:N0}"), Seconds(figures.ShortestS), Seconds(figures.LongestS), Seconds(figures.AverageS),
            Seconds(figures.P50S), Seconds(figures.P99S), Text($"{figures.Declined:N0}"), Text($"{figures.Errors:N0}"));
        if (figures.SinceStart is { } burst)
        {
            table.AddRow(
                "  since start", "", Seconds(burst.ShortestS), Seconds(burst.LongestS), Seconds(burst.AverageS), Seconds(burst.P50S),
                Seconds(burst.P99S), "", "");
        }
    }

    private static string Seconds(double seconds) => Text($"{seconds:0.000}");

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);

}
