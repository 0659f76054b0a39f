using Billing.Reporting;
using Billing.Reporting.Charts;

namespace Billing.Measuring.Comparing.Rpc;

/// <summary>The comparison of remote procedure calls as a page.</summary>
internal static class RpcPage
{
    private static readonly (string Protocol, string Name)[] Others = [(Protocols.Grpc, "gRPC"), (Protocols.Rest, "REST/JSON")];

    public static Report Of(RpcResult comparison) => new()
    {
        Title = "RPCX against gRPC and REST",
        Subtitle = Sentence(comparison),
        Facts =
        [
            .. Facts.Of(comparison.Run), Sources.Rpcx.Fact(),
            new Fact("Method", $"{comparison.Runs} runs of each side in each configuration, the sides alternating, the first run dropped; {Numbers.Counted(comparison.Connections, "connection")} for RPCX and for gRPC, one per caller for REST"),
        ],
        Sections =
        [
            new Section("Comparison with the paper", Ratios(comparison)),
            .. comparison.Variants.Count > 0 ? [new Section("Under other conditions", Variants(comparison))] : Array.Empty<Section>(),
            new Section("All configurations", [Cells(comparison), .. Charts(comparison)]),
            new Section("How to read the figures", new Prose(string.Join("\n\n", RpcResult.Notes))),
        ],
    };

    private static string Sentence(RpcResult comparison)
    {
        var ratios = comparison.Cells.Select(c => c.CoreRatio(Protocols.Grpc)).OfType<double>().ToList();
        if (ratios.Count == 0)
        {
            return comparison.Cells.Count == 0 ? "Nothing was measured." : "No configuration took enough processor time to compare calls per core second.";
        }
        var leftOut = comparison.Cells.Count - ratios.Count;
        var few = leftOut > 0 ? $"; {Numbers.Whole(leftOut)} with less than 0.1 s left out" : "";
        var usual = $"Per second of processor time, RPCX makes {Numbers.Fixed(Spread.Of(ratios).Median, 2)} times as many calls as gRPC ({Numbers.Fixed(ratios.Min(), 2)} to {Numbers.Fixed(ratios.Max(), 2)} in {Numbers.Counted(ratios.Count, "configuration")}{few}){Under(comparison.Conditions)}.";
        return comparison.Variants is [.., var fairest] && fairest.Cell.CoreRatio(Protocols.Grpc) is { } ratio
            ? $"{usual} It makes {Numbers.Fixed(ratio, 2)} times as many{Under(fairest.Conditions)} ({Numbers.Whole(fairest.Cell.Threads)} callers with {Numbers.Whole(fairest.Cell.Requests)} requests each)."
            : usual;
    }

    private static string Under(RpcConditions? conditions) => conditions is null ? "" : $" with {conditions}";

    private static Table Variants(RpcResult comparison)
    {
        var varied = comparison.Variants[0].Cell;
        var usual = comparison.Cells.FirstOrDefault(c => c.Threads == varied.Threads && c.Requests == varied.Requests);
        RpcVariant[] all = comparison.Conditions is { } conditions && usual is not null ? [new RpcVariant(conditions, usual), .. comparison.Variants] : [.. comparison.Variants];
        return new Table
        {
            Title = $"{Numbers.Whole(varied.Threads)} callers with {Numbers.Whole(varied.Requests)} requests each",
            Columns =
            [
                new Column("Conditions", Align.Left),
                .. Protocols.All.Select(p => new Column(p, Unit: "calls/s")),
                .. Protocols.All.Select(p => new Column(p, Unit: "calls/core s")),
                .. Others.Select(other => new Column($"Calls per core second, ratio of RPCX to {other.Name}")),
                new Column("Failed"),
            ],
            Rows = [.. all.Select(v => new Row(
            [
                v.Conditions.ToString(),
                .. Protocols.All.Select(p => (Cell)Numbers.Whole(v.Cell.Side(p).CallsPerS)),
                .. Protocols.All.Select(p => (Cell)Numbers.Whole(v.Cell.Side(p).CallsPerCoreS)),
                .. Others.Select(other => (Cell)(v.Cell.CoreRatio(other.Protocol) is { } ratio ? Numbers.Fixed(ratio, 2) : Numbers.None)),
                Numbers.Whole(v.Cell.Sides.Sum(s => s.Errors)),
            ]))],
        };
    }

    private static Table Ratios(RpcResult comparison) => new()
    {
        Columns =
        [
            new Column("RPCX compared with", Align.Left), new Column("Less time", Unit: "%"), new Column("More calls per second", Unit: "%"),
            new Column("Calls per core second, ratio"),
            new Column("Paper: less time", Unit: "%", IsPaper: true), new Column("Paper: more TPS", Unit: "%", IsPaper: true),
        ],
        Rows = [.. Others.Select(other => new Row(
            other.Name,
            Range(comparison.Cells.Select(c => c.LessTimePercent(other.Protocol)), 1),
            Range(comparison.Cells.Select(c => c.MoreTpsPercent(other.Protocol)), 1),
            Range(comparison.Cells.Select(c => c.CoreRatio(other.Protocol)).OfType<double>(), 2),
            $"{comparison.Paper.LessTimePercentMin} to {comparison.Paper.LessTimePercentMax}",
            $"{comparison.Paper.MoreTpsPercentMin} to {comparison.Paper.MoreTpsPercentMax}"))],
        Note = "Minimum to maximum over all configurations, all under the first conditions; the ratio leaves out configurations with less than 0.1 s of processor time. The paper's figures cover gRPC and OpenFeign together, in Java, on two 1-core machines.",
    };

    private static Table Cells(RpcResult comparison) => new()
    {
        Columns =
        [
            new Column("Callers"), new Column("Requests per caller"),
            .. Protocols.All.Select(p => new Column(p, Unit: "ms")),
            .. Protocols.All.Select(p => new Column(p, Unit: "calls/s")),
            .. Protocols.All.Select(p => new Column(p, Unit: "calls/core s")),
            new Column("Failed"),
        ],
        Rows = [.. comparison.Cells.Select(cell => new Row(
        [
            Numbers.Whole(cell.Threads), Numbers.Whole(cell.Requests),
            .. Protocols.All.Select(p => (Cell)Numbers.Significant(cell.Side(p).MeanMs)),
            .. Protocols.All.Select(p => (Cell)Numbers.Whole(cell.Side(p).CallsPerS)),
            .. Protocols.All.Select(p => (Cell)Numbers.Whole(cell.Side(p).CallsPerCoreS)),
            Numbers.Whole(cell.Sides.Sum(s => s.Errors)),
        ]))],
    };

    private static IEnumerable<Block> Charts(RpcResult comparison)
    {
        if (comparison.Cells.Count == 0)
        {
            yield break;
        }
        var most = comparison.Cells.Max(c => c.Requests);
        var cells = comparison.Cells.Where(c => c.Requests == most).ToList();
        yield return new BarChart(
            $"Calls per second, {Numbers.Whole(most)} requests per caller", new Axis("Calls", "/s"),
            [.. cells.Select(c => $"{Numbers.Whole(c.Threads)} callers")],
            [.. Protocols.All.Select(p => Bars.Of(p, cells.Select(c => c.Side(p).CallsPerS)))]);
        yield return new BarChart(
            $"Calls per second of processor time, {Numbers.Whole(most)} requests per caller", new Axis("Calls", "/core s"),
            [.. cells.Select(c => $"{Numbers.Whole(c.Threads)} callers")],
            [.. Protocols.All.Select(p => Bars.Of(p, cells.Select(c => c.Side(p).CallsPerCoreS)))]);
    }

    private static string Range(IEnumerable<double> values, int decimals)
    {
        var finite = values.Where(double.IsFinite).ToList();
        return finite.Count == 0 ? Numbers.None : $"{Numbers.Fixed(finite.Min(), decimals)} to {Numbers.Fixed(finite.Max(), decimals)}";
    }
}
