using Billing.Driver.Metering;
using Billing.Measuring;
using Billing.Measuring.Experiments;
using Billing.Measuring.Experiments.Comparisons;
using Billing.Rehearsal.Listening;
using Spectre.Console;

using Table = Spectre.Console.Table;

namespace Billing.Rehearsal;

/// <summary>Prints the report of a rehearsal: the runs beside the prototype's figures, memory and disk use,
/// access and findings.</summary>
internal static class RehearsalTable
{
    public static void Print(IAnsiConsole console, RehearsalReport report)
    {
        console.Write(Runs(report));
        console.WriteLine($"Paper: {Sources.Prototype.Citation}");
        console.WriteLine(
            "The paper's figures are from fifteen t2.micro, which stored nothing and replied without a simulated "
            + $"delay; the machines here share {report.Machine.Cores} processors, with {report.ZoneDelayMs:0.0} ms "
            + "between zones.");
        console.Write(Memory(report));
        if (report.Disks.Count > 0)
        {
            console.WriteLine("Bytes on the disks for each payment: "
                + string.Join(", ", report.Disks.Select(disk => $"{disk.What} {disk.BytesPerPayment:N0}")) + ".");
        }
        if (report.Access is { } access)
        {
            console.WriteLine(
                $"{access.Tried} connections between machines tried, {access.Allowed} of them allowed; "
                + $"{access.Amiss.Count} findings.");
        }
        if (report.Listening is { } heard)
        {
            console.Write(Links(heard));
            console.WriteLine(
                $"An eavesdropper on the router read {heard.Packets:N0} packets with {heard.Bytes:N0} bytes; the "
                + $"kernel dropped {heard.Dropped:N0} packets, and {heard.UnreadPercent:0.00} % of the bytes were not "
                + "read.");
            console.WriteLine(
                "Allowed, but nothing went from " + string.Join(", ", heard.Silent.DefaultIfEmpty("none")));
        }
        console.WriteLine(report.Amiss.Count == 0 ? "No findings." : $"{report.Amiss.Count} findings:");
        foreach (var finding in report.Amiss)
        {
            console.WriteLine("  " + finding);
        }
    }

    private static Table Runs(RehearsalReport report)
    {
        var table = Table(
            "Response times in seconds: per call and, for bursts, since the start of the burst", "", "Payments", "Min",
            "Max", "Mean", "p50", "p99", "Total", "Retries", "Errors");
        foreach (var run in report.Runs)
        {
            table.AddRow(
                [
                    run.Name, $"{run.Payments.Sent:N0}", .. Times(run.Payments.Latency), Seconds(run.TotalS),
                    $"{run.Retried:N0}", $"{run.Payments.Failed:N0}",
                ]);
            if (run.IsBurst)
            {
                table.AddRow(["  since start", "", .. Times(run.Payments.SinceStart), "", "", ""]);
            }
        }
        if (PaperExperiment.Published(report.Requests, 3, hasJitter: false) is { } paper)
        {
            table.AddRow(
                "paper, 15 machines", $"{3 * report.Requests:N0}", Seconds(paper[Figure.ShortestS.Id]),
                Seconds(paper[Figure.LongestS.Id]), Seconds(paper[Figure.AverageS.Id]), "", "", "", "", "");
        }
        return table;
    }

    private static string[] Times(LatencyFigures times) =>
        [
            .. new[] { times.MinMs, times.MaxMs, times.MeanMs, times.P50Ms, times.P99Ms }.Select(
                ms => Seconds(ms / 1000)),
        ];

    private static Table Memory(RehearsalReport report)
    {
        var table = Table(
            "Memory after the burst, MB", "Machine", "Service",
            "Service's peak", "Machine's peak, including page cache");
        foreach (var use in report.Memory)
        {
            table.AddRow(
                use.Machine, use.Service, $"{use.ResidentPeakBytes / 1e6:0}", $"{use.MachinePeakBytes / 1e6:0}");
        }
        return table;
    }

    private static Table Links(ListeningFindings heard)
    {
        var table = Table(
            "What machines sent each other", "Link", "Port", "Bytes", "TLS, %", "In clear", "Not read", "Found");
        foreach (var link in heard.Links)
        {
            table.AddRow(
                $"{link.From} to {link.To}", link.Port, $"{link.Bytes:N0}", $"{link.TlsPercent:0.0}",
                $"{link.ClearBytes:N0}", $"{link.UnreadBytes:N0}",
                string.Join(", ", link.Found.Select(found => $"{found.Key}: {found.Value:N0}")));
        }
        return table;
    }

    private static Table Table(string title, params string[] columns)
    {
        var table = new Table().Border(TableBorder.Rounded).Title(title).AddColumns(columns);
        foreach (var column in table.Columns.Skip(columns[1] == "Service" ? 2 : 1))
        {
            column.RightAligned();
        }
        return table;
    }

    private static string Seconds(double seconds) => $"{seconds:0.000}";
}
