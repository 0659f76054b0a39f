using Billing.Reporting;
using Billing.Reporting.Charts;

namespace Billing.Measuring.Comparing.Overload;

/// <summary>The behaviour under overload as a page.</summary>
internal static class OverloadPage
{
    public static Report Of(OverloadResult result) => new()
    {
        Title = "Behaviour under overload",
        Subtitle = Sentence(result),
        Facts =
        [
            .. Facts.Of(result.Run), StoreAudit.Fact(result.Audits),
            new Fact("Method", $"open loop: payments are sent when they are due, independent of answers; latency counts from that moment; there are no retries; the simulated card network allows {Numbers.Whole(result.CapacityPerS)}/s; the proxies' LatencyTarget is {Numbers.Whole(result.TargetMs)} ms"),
        ],
        Sections =
        [
            new Section("Throughput and latency by phase", Phases(result), Chart(result)),
            .. result.Memory.Count > 0 ? [new Section("Memory", Memory(result))] : Array.Empty<Section>(),
        ],
    };

    private static string Sentence(OverloadResult result)
    {
        var normal = result.Phases[0];
        return string.Join(' ', result.Phases.Skip(1).Where(p => p.Latency.P99Ms > 0 && normal.Latency.P99Ms > 0).Select(p =>
            $"{p.Name}: p99 {Numbers.Fixed(p.Latency.P99Ms / normal.Latency.P99Ms, 2)} times normal."));
    }

    private static Table Phases(OverloadResult result) => new()
    {
        Columns =
        [
            new Column("Phase", Align.Left), new Column("Offered", Unit: "/s"), new Column("Answered", Unit: "/s"), new Column("Rejected"), new Column("Other errors"),
            new Column("p50", Unit: "ms"), new Column("p99", Unit: "ms"), new Column("max", Unit: "ms"), new Column("Rejections, p50", Unit: "ms"), new Column("Rejections, p99", Unit: "ms"),
        ],
        Rows = [.. result.Phases.Select(p => new Row(
            p.Name, Numbers.Whole(p.OfferedPerS), Numbers.Whole(p.AnsweredPerS), Numbers.Whole(p.Refused), Numbers.Whole(p.OtherErrors),
            Numbers.Fixed(p.Latency.P50Ms, 0), Numbers.Fixed(p.Latency.P99Ms, 0), Numbers.Fixed(p.Latency.MaxMs, 0),
            p.Refused > 0 ? Numbers.Fixed(p.Refusals.P50Ms, 1) : Numbers.None, p.Refused > 0 ? Numbers.Fixed(p.Refusals.P99Ms, 1) : Numbers.None))],
    };

    private static LineChart Chart(OverloadResult result) => new(
        "Latency of answered payments by phase", new Axis("Phase"), new Axis("Latency", "ms"),
        new Series("p50", [.. result.Phases.Select((p, i) => ((double)(i + 1), p.Latency.P50Ms))]),
        new Series("p99", [.. result.Phases.Select((p, i) => ((double)(i + 1), p.Latency.P99Ms))]));

    private static Table Memory(OverloadResult result) => new()
    {
        Columns = [new Column("Program", Align.Left), new Column("Before", Unit: "MB"), new Column("Peak", Unit: "MB"), new Column("After", Unit: "MB")],
        Rows = [.. result.Memory.Select(m => new Row(m.Program, Numbers.Whole(m.BeforeMb), Numbers.Whole(m.MostMb), Numbers.Whole(m.AfterMb)))],
    };
}
