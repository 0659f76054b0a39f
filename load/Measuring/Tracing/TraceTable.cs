using Billing.Reporting;
using Spectre.Console;
using Table = Spectre.Console.Table;

namespace Billing.Measuring.Tracing;

/// <summary>Prints the percentiles of every step of a trace.</summary>
internal static class TraceTable
{
    public static void Print(IAnsiConsole console, TraceResult summary)
    {
        var table = new Table().Border(TableBorder.Rounded).Title($"Milliseconds per step; the {Leg.TotalName} begins when a payment was due")
            .AddColumns("Step", "p50", "p90", "p99", "p99.9", "Longest", "Mean");
        foreach (var column in table.Columns.Skip(1))
        {
            column.RightAligned();
        }
        foreach (var step in summary.Steps)
        {
            table.AddRow(
                Markup.Escape(step.Name), Ms(step.P50Ms), Ms(step.P90Ms), Ms(step.P99Ms), Ms(step.P999Ms), Ms(step.MaxMs), Ms(step.MeanMs));
        }
        console.Write(table);
        var counts = summary.Requests;
        console.WriteLine(
            $"{Numbers.Whole(counts.Sent)} payments sent, {Numbers.Whole(counts.Accepted)} accepted, "
            + $"{Numbers.Whole(counts.Declined)} declined, {Numbers.Whole(counts.Failed)} failed, "
            + $"{Numbers.Whole(counts.InStore)} found in the event store, {Numbers.Whole(counts.PerS)} answers/s.");
        if (counts.Failed > 0)
        {
            console.WriteLine(FailedRequests.Sentence(counts.Failed));
        }
    }

    private static string Ms(double value) => Numbers.Fixed(value, 2);
}
