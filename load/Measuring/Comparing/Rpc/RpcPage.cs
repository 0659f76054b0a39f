using Billing.Reporting;
using Billing.Reporting.Charts;

namespace Billing.Measuring.Comparing.Rpc;

/// <summary>The comparison of remote procedure calls as a page.</summary>
internal static class RpcPage
{
    private static readonly (string Protocol, string Name)[] Others = [(Protocols.Grpc, "gRPC"), (Protocols.Rest, "REST/JSON")];

    public static Report Of(RpcComparison comparison) => new()
    {
        Title = "RPCX against gRPC and REST",
        Subtitle = Sentence(comparison),
        Facts =
        [
            .. Facts.Of(comparison.Run),
            new Fact("Method", $"{comparison.Runs} runs of each side in each cell, in turn, the first dropped; {Numbers.Counted(comparison.Connections, "connection")} of RPCX and of gRPC, one for each caller of REST"),
        ],
        Sections =
        [
            new Section("Beside the paper", Ratios(comparison)),
            new Section("Cell by cell", [Cells(comparison), .. Charts(comparison)]),
            new Section("How to read it", new Prose(string.Join("\n\n", RpcComparison.Notes))),
        ],
    };

    private static string Sentence(RpcComparison comparison)
    {
        var ratios = comparison.Cells.Select(c => c.CoreRatio(Protocols.Grpc)).Where(double.IsFinite).Where(r => r > 0).ToList();
        return ratios.Count == 0
            ? "Nothing was measured."
            : $"For each second of processor time, RPCX makes {Numbers.Fixed(Spread.Of(ratios).Median, 2)} times as many calls as gRPC ({Numbers.Fixed(ratios.Min(), 2)} to {Numbers.Fixed(ratios.Max(), 2)} over {ratios.Count} cells).";
    }

    private static Table Ratios(RpcComparison comparison) => new()
    {
        Columns =
        [
            new Column("RPCX against", Align.Left), new Column("Less time", Unit: "%"), new Column("More calls a second", Unit: "%"),
            new Column("Calls for a core second, times"),
            new Column("Paper: less time", Unit: "%", IsPaper: true), new Column("Paper: more TPS", Unit: "%", IsPaper: true),
        ],
        Rows = [.. Others.Select(other => new Row(
            other.Name,
            Range(comparison.Cells.Select(c => c.LessTimePercent(other.Protocol)), 1),
            Range(comparison.Cells.Select(c => c.MoreTpsPercent(other.Protocol)), 1),
            Range(comparison.Cells.Select(c => c.CoreRatio(other.Protocol)), 2),
            $"{comparison.Paper.LessTimePercentMin} to {comparison.Paper.LessTimePercentMax}",
            $"{comparison.Paper.MoreTpsPercentMin} to {comparison.Paper.MoreTpsPercentMax}"))],
        Note = "From the least to the greatest of all cells. The paper's figures are over gRPC and OpenFeign together, in Java, on two 1-core machines.",
    };

    private static Table Cells(RpcComparison comparison) => new()
    {
        Columns =
        [
            new Column("Callers"), new Column("Requests of each"),
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

    private static IEnumerable<Block> Charts(RpcComparison comparison)
    {
        if (comparison.Cells.Count == 0)
        {
            yield break;
        }
        var most = comparison.Cells.Max(c => c.Requests);
        var cells = comparison.Cells.Where(c => c.Requests == most).ToList();
        yield return new BarChart(
            $"Calls a second, {Numbers.Whole(most)} requests of each caller", new Axis("Calls", "/s"),
            [.. cells.Select(c => $"{Numbers.Whole(c.Threads)} callers")],
            [.. Protocols.All.Select(p => Bars.Of(p, cells.Select(c => c.Side(p).CallsPerS)))]);
        yield return new BarChart(
            $"Calls for a second of processor time, {Numbers.Whole(most)} requests of each caller", new Axis("Calls", "/core s"),
            [.. cells.Select(c => $"{Numbers.Whole(c.Threads)} callers")],
            [.. Protocols.All.Select(p => Bars.Of(p, cells.Select(c => c.Side(p).CallsPerCoreS)))]);
    }

    private static string Range(IEnumerable<double> values, int decimals)
    {
        var finite = values.Where(double.IsFinite).ToList();
        return finite.Count == 0 ? Numbers.None : $"{Numbers.Fixed(finite.Min(), decimals)} to {Numbers.Fixed(finite.Max(), decimals)}";
    }
}
