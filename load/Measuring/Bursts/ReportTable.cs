using System.Globalization;
using Billing.Auditing;
using Billing.Client.Load;
using Spectre.Console;

namespace Billing.Measuring.Bursts;

/// <summary>Prints a run as the billing prototype did: number of requests, shortest, longest and average time for payments
/// and for balances, and the total time; and below it the audit.</summary>
internal static class ReportTable
{
    public static void Print(IAnsiConsole console, RunReport report, IReadOnlyCollection<LoadResult> results, AuditResult audit, IReadOnlyList<string> faults)
    {
        var table = new Table().Border(TableBorder.Rounded)
            .Title("Seconds as each client saw them")
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
        console.WriteLine(Text($"Total time {report.TotalS:0.000} s, {report.RequestsPerS:N0} requests/s, {report.Retried} calls sent again."));
        PrintErrors(console, results);
        AuditTable.Print(console, audit);
        foreach (var fault in faults)
        {
            console.WriteLine("  " + fault);
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

    private static void AddRow(Table table, string kind, KindReport figures) => table.AddRow(
        kind, Text($"{figures.Count:N0}"), Seconds(figures.ShortestS), Seconds(figures.LongestS), Seconds(figures.AverageS),
        Seconds(figures.P50S), Seconds(figures.P99S), Text($"{figures.Declined:N0}"), Text($"{figures.Errors:N0}"));

    private static string Seconds(double seconds) => Text($"{seconds:0.000}");

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
