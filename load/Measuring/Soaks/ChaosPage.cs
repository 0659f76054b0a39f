using System.Globalization;
using Billing.Reporting;
using Billing.Reporting.Charts;

namespace Billing.Measuring.Soaks;

/// <summary>A soak as a page, and as the terminal has it: what each kind of fault cost the callers, and what they saw.</summary>
internal static class ChaosPage
{
    private const int NamedMax = 10;

    public static Report Of(ChaosResult result) => new()
    {
        Title = "A soak with faults",
        Subtitle = result.Clean ? "Clean: nothing lost, nothing doubled, no answer wrong." : "NOT CLEAN.",
        Facts =
        [
            .. Facts.Of(result.Run), Books.Fact([result.Audit]),
            new Fact("Shape", $"{result.Brokers} brokers, {result.Proxies} proxies, {result.Backends.Payments} payment backends, {result.Backends.Balances} balance backends, jitter {(result.Jitter ? "on" : "off")}, at most {result.Rate} payments/s"),
            new Fact("Faults", $"{Numbers.Counted(result.Faults.Count, "fault")} in {Numbers.Whole(result.DurationS)} s, from seed {result.Seed}"),
        ],
        Sections =
        [
            new Section("", Waits(result), new BarChart(
                "Longest wait for an answer", new Axis("Time", "s"), [.. result.Kinds.Select(k => k.Kind)],
                Bars.Of("longest", result.Kinds.Select(k => k.LongestCallS)),
                Bars.Of("target", result.Kinds.Select(k => k.TargetS ?? double.NaN)))),
            new Section("What the callers saw", Calls(result)),
            new Section("What must hold", Checks(result)),
            new Section("Faults in order", Faults(result)),
        ],
    };

    private static Table Waits(ChaosResult result) => new()
    {
        Title = "Longest wait for an answer, retries included, in seconds",
        Columns = [new Column("Fault", Align.Left), new Column("Times"), new Column("Longest"), new Column("Target"), new Column("", Align.Left)],
        Rows = [.. result.Kinds.Select(kind => new Row(
            kind.Kind, Numbers.Whole(kind.Times), Numbers.Fixed(kind.LongestCallS, 2),
            kind.TargetS is { } target ? $"< {target}" : "", new Cell(kind.Missed ? "MISSED" : "", kind.Missed)))],
    };

    private static Table Calls(ChaosResult result) => Counts(
        [
            ("payments answered", result.Payments), ("declined", result.Declined), ("sent twice at once", result.SentTwice), ("balance checks", result.Balances),
            ("payments without an answer", result.Unanswered), ("calls sent again by the client", result.Retried), ("asked again", result.AskedAgain),
            .. result.Failures.OrderByDescending(f => f.Value).Select(f => (f.Key, f.Value)),
        ]);

    private static Table Checks(ChaosResult result) => Counts(
        [
            ("commands sent past the proxies and acknowledged", result.Direct), ("of them forgotten", result.Forgotten.Count),
            ("events recorded and not published", result.Unpublished.Count), ("bad records", result.BadRecords), ("of them put aside", result.PutAside),
            ("processes that ended by themselves", result.EndedThemselves), ("answers that contradict others", result.Violations.Count),
        ]) with
    {
        Note = string.Join(' ', result.Wrong.Take(NamedMax).Append(result.Wrong.Count > NamedMax
            ? string.Create(CultureInfo.InvariantCulture, $"... and {result.Wrong.Count - NamedMax} more") : "")).Trim(),
    };

    private static Table Faults(ChaosResult result) => new()
    {
        Columns = [new Column("Fault", Align.Left), new Column("Struck", Unit: "s"), new Column("Lasts", Unit: "s"), new Column("Longest call", Unit: "s")],
        Rows = [.. result.Faults.Select(f => new Row(f.What, Numbers.Fixed(f.StruckS, 1), Numbers.Fixed(f.LastsS, 1), Numbers.Fixed(f.LongestCallS, 2)))],
    };

    private static Table Counts(IEnumerable<(string What, long Count)> counts) => new()
    {
        Columns = [new Column("", Align.Left), new Column("Count")],
        Rows = [.. counts.Select(c => new Row(c.What, Numbers.Whole(c.Count)))],
    };
}
