using Billing.Reporting;
using Billing.Reporting.Charts;

namespace Billing.Measuring.Comparing.Overload;

/// <summary>What an overload does, as a page.</summary>
internal static class OverloadPage
{
    public static Report Of(OverloadReport report) => new()
    {
        Title = "More than the platform can do",
        Subtitle = Sentence(report),
        Facts =
        [
            .. Facts.Of(report.Run), Books.Fact(report.Audits),
            new Fact("Method", $"open loop: payments go out when they are due, whatever comes back, are timed from then on, and none is sent again; the simulated card network allows {Numbers.Whole(report.CapacityPerS)}/s; the proxies' LatencyTarget is {Numbers.Whole(report.TargetMs)} ms"),
        ],
        Sections =
        [
            new Section("What callers get", Phases(report), Chart(report)),
            .. report.Memory.Count > 0 ? [new Section("Memory", Memory(report))] : Array.Empty<Section>(),
        ],
    };

    private static string Sentence(OverloadReport report)
    {
        var normal = report.Phases[0];
        return string.Join(' ', report.Phases.Skip(1).Where(p => p.Latency.P99Ms > 0 && normal.Latency.P99Ms > 0).Select(p =>
            $"{p.Name}: p99 {Numbers.Fixed(p.Latency.P99Ms / normal.Latency.P99Ms, 2)} times normal."));
    }

    private static Table Phases(OverloadReport report) => new()
    {
        Columns =
        [
            new Column("Phase", Align.Left), new Column("Offered", Unit: "/s"), new Column("Answered", Unit: "/s"), new Column("Refused"), new Column("Other errors"),
            new Column("p50", Unit: "ms"), new Column("p99", Unit: "ms"), new Column("longest", Unit: "ms"), new Column("Refused in, p50", Unit: "ms"), new Column("Refused in, p99", Unit: "ms"),
        ],
        Rows = [.. report.Phases.Select(p => new Row(
            p.Name, Numbers.Whole(p.OfferedPerS), Numbers.Whole(p.AnsweredPerS), Numbers.Whole(p.Refused), Numbers.Whole(p.OtherErrors),
            Numbers.Fixed(p.Latency.P50Ms, 0), Numbers.Fixed(p.Latency.P99Ms, 0), Numbers.Fixed(p.Latency.MaxMs, 0),
            p.Refused > 0 ? Numbers.Fixed(p.Refusals.P50Ms, 1) : Numbers.None, p.Refused > 0 ? Numbers.Fixed(p.Refusals.P99Ms, 1) : Numbers.None))],
    };

    private static LineChart Chart(OverloadReport report) => new(
        "Latency of what is answered, phase by phase", new Axis("Phase"), new Axis("Latency", "ms"),
        new Series("p50", [.. report.Phases.Select((p, i) => ((double)(i + 1), p.Latency.P50Ms))]),
        new Series("p99", [.. report.Phases.Select((p, i) => ((double)(i + 1), p.Latency.P99Ms))]));

    private static Table Memory(OverloadReport report) => new()
    {
        Columns = [new Column("Program", Align.Left), new Column("Before", Unit: "MB"), new Column("Most", Unit: "MB"), new Column("After", Unit: "MB")],
        Rows = [.. report.Memory.Select(m => new Row(m.Program, Numbers.Whole(m.BeforeMb), Numbers.Whole(m.MostMb), Numbers.Whole(m.AfterMb)))],
    };
}
