using System.Globalization;
using System.Text;
using NBomber.Contracts.Stats;

namespace NBomber.Reports;

/// <summary>The reports that are plain text: txt, csv and md.</summary>
internal static class TextReport
{
    public static string Number(long value) => value.ToString(CultureInfo.InvariantCulture);

    public static string Decimal(double value) => value.ToString("0.00", CultureInfo.InvariantCulture);

    public static string Txt(NodeStats stats)
    {
        var text = new StringBuilder().AppendLine(Title(stats));
        foreach (var scenario in stats.ScenarioStats)
        {
            text.AppendLine().AppendLine(Headline(scenario));
            var rows = ReportRow.Of(scenario).Select(r => r.Cells).Prepend(ReportRow.Columns).ToList();
            var widths = Enumerable.Range(0, ReportRow.Columns.Count).Select(c => rows.Max(r => r[c].Length)).ToList();
            foreach (var row in rows)
            {
                text.AppendLine("  " + string.Join("  ", row.Select((cell, c) => c < 2 ? cell.PadRight(widths[c]) : cell.PadLeft(widths[c]))).TrimEnd());
            }
            foreach (var code in Codes(scenario))
            {
                text.Append("  ").AppendLine(Code(code));
            }
        }
        return text.ToString();
    }

    public static string Csv(NodeStats stats)
    {
        var text = new StringBuilder().AppendLine(string.Join(',', ReportRow.Columns.Prepend("scenario").Select(Quoted)));
        foreach (var row in stats.ScenarioStats.SelectMany(ReportRow.Of))
        {
            text.AppendLine(string.Join(',', row.Cells.Prepend(row.Scenario).Select(Quoted)));
        }
        return text.ToString();
    }

    public static string Md(NodeStats stats)
    {
        var text = new StringBuilder().AppendLine($"> {Title(stats)}");
        foreach (var scenario in stats.ScenarioStats)
        {
            text.AppendLine().AppendLine($"## {Headline(scenario)}").AppendLine()
                .AppendLine($"| {string.Join(" | ", ReportRow.Columns)} |")
                .AppendLine($"| {string.Join(" | ", ReportRow.Columns.Select((_, c) => c < 2 ? "---" : "---:"))} |");
            foreach (var row in ReportRow.Of(scenario))
            {
                text.AppendLine($"| {string.Join(" | ", row.Cells.Select(c => c.Replace("|", "\\|", StringComparison.Ordinal)))} |");
            }
            text.AppendLine();
            foreach (var code in Codes(scenario))
            {
                text.AppendLine($"- {Code(code)}");
            }
        }
        return text.ToString();
    }

    public static string Title(NodeStats stats) => string.Create(
        CultureInfo.InvariantCulture,
        $"{stats.TestInfo.TestSuite}, {stats.TestInfo.TestName}, {stats.TestInfo.Created:yyyy-MM-dd HH:mm:ss} UTC, {stats.NodeInfo.CoresCount} cores, {stats.NodeInfo.DotNetVersion}");

    public static string Headline(ScenarioStats scenario) => string.Create(
        CultureInfo.InvariantCulture,
        $"{scenario.ScenarioName}: {scenario.AllRequestCount} calls in {scenario.Duration:hh\\:mm\\:ss\\.fff}, {scenario.AllOkCount} ok, {scenario.AllFailCount} failed");

    public static IEnumerable<StatusCodeStats> Codes(ScenarioStats scenario) => scenario.Ok.StatusCodes.Concat(scenario.Fail.StatusCodes);

    public static string Code(StatusCodeStats code) => string.Create(
        CultureInfo.InvariantCulture,
        $"status {(code.StatusCode.Length == 0 ? "(none)" : code.StatusCode)}, {(code.IsError ? "fail" : "ok")}: {code.Count} ({code.Percent} %){(code.Message.Length == 0 ? "" : ", " + code.Message)}");

    private static string Quoted(string cell) =>
        cell.AsSpan().IndexOfAny(",\"\n") >= 0 ? $"\"{cell.Replace("\"", "\"\"", StringComparison.Ordinal)}\"" : cell;
}
