using System.Globalization;
using Billing.Chaos;
using Billing.Reporting;
using Billing.Reporting.Charts;

namespace Billing.Measuring.Soaks;

/// <summary>The report of a soak test, for the page and the console: the longest wait of a caller for each kind of
/// fault, and the results of the callers.</summary>
internal static class ChaosPage
{
    private const int NamedMax = 10;

    public static Report Of(ChaosResult result) => new()
    {
        Title = "Soak test with faults",
        Subtitle = result.Clean ? "Clean: no payment lost, none recorded twice, no wrong answer." : "NOT CLEAN.",
        Facts =
        [
            .. Facts.Of(result.Run), StoreAudit.Fact([result.Audit]),
            new Fact(
                "Setup",
                $"{result.Brokers} brokers, {result.Proxies} proxies, {result.Backends.Payments} payment backends, "
                    + $"{result.Backends.Balances} balance backends, jitter {(result.Jitter ? "on" : "off")}, "
                    + $"at most {result.Rate} payments/s"),
            new Fact(
                "Faults",
                $"{Numbers.Counted(result.Faults.Count, "fault")} in {Numbers.Whole(result.DurationS)} s, "
                    + $"seed {result.Seed}"),
        ],
        Sections =
        [
            new Section("", Waits(result), new BarChart(
                "Longest wait for an answer", new Axis("Time", "s"), [.. result.Kinds.Select(k => k.Kind)],
                Bars.Of("longest", result.Kinds.Select(k => k.LongestCallS)),
                Bars.Of("target", result.Kinds.Select(k => k.TargetS ?? double.NaN)))),
            new Section("Calls", Calls(result.Traffic)),
            new Section("Checks", Checks(result)),
            new Section("Faults in order of time", Faults(result)),
        ],
    };

    private static Table Waits(ChaosResult result) => new()
    {
        Title = "Longest wait for an answer, retries included, in seconds",
        Columns =
        [
            new Column("Fault", Align.Left), new Column("Count"), new Column("Longest"),
            new Column("Target"), new Column("", Align.Left),
        ],
        Rows = [.. result.Kinds.Select(kind => new Row(
            kind.Kind, Numbers.Whole(kind.Times), Numbers.Fixed(kind.LongestCallS, 2),
            kind.TargetS is { } target ? $"< {target}" : "", new Cell(kind.Missed ? "MISSED" : "", kind.Missed)))],
    };

    private static Table Calls(TrafficResult traffic) => Counts(
        [
            ("payments answered", traffic.Payments), ("declined", traffic.Declined),
            ("sent twice at the same time", traffic.Duplicates),
            ("put on hold, captured, voided, given back", traffic.Lives),
            ("queued over REST and followed to a final status", traffic.Queued),
            ("of these, failed", traffic.QueuedFailed),
            ("accounts frozen, closed, reopened", traffic.StatusChanges), ("balances answered", traffic.Balances),
            ("payments without an answer", traffic.Unanswered), ("calls retried by the client", traffic.Retried),
            ("calls repeated after the client gave up", traffic.AskedAgain),
            .. traffic.Failures.OrderByDescending(f => f.Value).Select(f => (f.Key, f.Value)),
        ]);

    private static Table Checks(ChaosResult result) => Counts(
        [
            ("commands sent directly to Kafka and acknowledged", result.Direct),
            ("of these, not in the event store", result.Forgotten.Count),
            ("events stored but not published", result.Unpublished.Count),
            ("invalid records sent", result.BadRecords), ("of these, in the dead letters", result.PutAside),
            ("processes that ended unexpectedly", result.EndedThemselves),
            ("inconsistent answers", result.Traffic.Violations.Count),
        ]) with
    {
        Note = string.Join(' ', result.Wrong.Take(NamedMax).Append(result.Wrong.Count > NamedMax
            ? string.Create(CultureInfo.InvariantCulture, $"... and {result.Wrong.Count - NamedMax} more")
            : "")).Trim(),
    };

    private static Table Faults(ChaosResult result) => new()
    {
        Columns =
        [
            new Column("Fault", Align.Left), new Column("Start", Unit: "s"),
            new Column("Duration", Unit: "s"), new Column("Longest call", Unit: "s"),
        ],
        Rows =
        [
            .. result.Faults.Select(f => new Row(
                f.What, Numbers.Fixed(f.StruckS, 1), Numbers.Fixed(f.LastsS, 1), Numbers.Fixed(f.LongestCallS, 2))),
        ],
    };

    private static Table Counts(IEnumerable<(string Name, long Count)> counts) => new()
    {
        Columns = [new Column("", Align.Left), new Column("Count")],
        Rows = [.. counts.Select(c => new Row(c.Name, Numbers.Whole(c.Count)))],
    };
}
