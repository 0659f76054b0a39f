using System.Globalization;
using Billing.Reporting;
using Billing.Reporting.Charts;

namespace Billing.Measuring.Soaks;

/// <summary>A soak as a page, and as the terminal has it: what each kind of fault cost the callers, and what they saw.</summary>
internal static class ChaosPage
{
    private const int NamedMax = 10;

    public static Report Of(ChaosReport report) => new()
    {
        Title = "A soak with faults",
        Subtitle = report.Clean ? "Clean: nothing lost, nothing doubled, no answer wrong." : "NOT CLEAN.",
        Facts =
        [
            .. Facts.Of(report.Run), Books.Fact([report.Audit]),
            new Fact("Shape", $"{report.Brokers} brokers, {report.Proxies} proxies, {report.Backends.Payments} payment backends, {report.Backends.Balances} balance backends, jitter {(report.Jitter ? "on" : "off")}, at most {report.Rate} payments/s"),
            new Fact("Faults", $"{Numbers.Counted(report.Faults.Count, "fault")} in {Numbers.Whole(report.DurationS)} s, from seed {report.Seed}"),
        ],
        Sections =
        [
            new Section("", Waits(report), new BarChart(
                "Longest wait for an answer", new Axis("Time", "s"), [.. report.Kinds.Select(k => k.Kind)],
                Bars.Of("longest", report.Kinds.Select(k => k.LongestCallS)),
                Bars.Of("target", report.Kinds.Select(k => k.TargetS ?? double.NaN)))),
            new Section("What the callers saw", Calls(report)),
            new Section("What must hold", Checks(report)),
            new Section("Faults in order", Faults(report)),
        ],
    };

    private static Table Waits(ChaosReport report) => new()
    {
        Title = "Longest wait for an answer, retries included, in seconds",
        Columns = [new Column("Fault", Align.Left), new Column("Times"), new Column("Longest"), new Column("Target"), new Column("", Align.Left)],
        Rows = [.. report.Kinds.Select(kind => new Row(
            kind.Kind, Numbers.Whole(kind.Times), Numbers.Fixed(kind.LongestCallS, 2),
            kind.TargetS is { } target ? $"< {target}" : "", new Cell(kind.Missed ? "MISSED" : "", kind.Missed)))],
    };

    private static Table Calls(ChaosReport report) => Counts(
        [
            ("payments answered", report.Payments), ("declined", report.Declined), ("sent twice at once", report.SentTwice), ("balance checks", report.Balances),
            ("payments without an answer", report.Unanswered), ("calls sent again by the client", report.Retried), ("asked again", report.AskedAgain),
            .. report.Failures.OrderByDescending(f => f.Value).Select(f => (f.Key, f.Value)),
        ]);

    private static Table Checks(ChaosReport report) => Counts(
        [
            ("commands sent past the proxies and acknowledged", report.Direct), ("of them forgotten", report.Forgotten.Count),
            ("events recorded and not published", report.Unpublished.Count), ("bad records", report.BadRecords), ("of them put aside", report.PutAside),
            ("processes that ended by themselves", report.EndedThemselves), ("answers that contradict others", report.Violations.Count),
        ]) with
    {
        Note = string.Join(' ', report.Wrong.Take(NamedMax).Append(report.Wrong.Count > NamedMax
            ? string.Create(CultureInfo.InvariantCulture, $"... and {report.Wrong.Count - NamedMax} more") : "")).Trim(),
    };

    private static Table Faults(ChaosReport report) => new()
    {
        Columns = [new Column("Fault", Align.Left), new Column("Struck", Unit: "s"), new Column("Lasts", Unit: "s"), new Column("Longest call", Unit: "s")],
        Rows = [.. report.Faults.Select(f => new Row(f.What, Numbers.Fixed(f.StruckS, 1), Numbers.Fixed(f.LastsS, 1), Numbers.Fixed(f.LongestCallS, 2)))],
    };

    private static Table Counts(IEnumerable<(string What, long Count)> counts) => new()
    {
        Columns = [new Column("", Align.Left), new Column("Count")],
        Rows = [.. counts.Select(c => new Row(c.What, Numbers.Whole(c.Count)))],
    };
}
