using System.Globalization;
using System.Text;
using NBomber.Contracts;
using NBomber.Contracts.Stats;

namespace NBomber.Reports;

/// <summary>The reports that are plain text, and the progress.</summary>
internal static class TextReport
{
    public static string Txt(string title, NodeStats stats)
    {
        var text = new StringBuilder().AppendLine(title);
        foreach (var scenario in stats.ScenarioStats)
        {
            text.AppendLine().AppendLine(Headline(scenario));
            var rows = ReportRow.Of(scenario).Select(r => r.Cells).Prepend(ReportRow.Columns).ToList();
            var widths = Enumerable.Range(0, ReportRow.Columns.Count).Select(c => rows.Max(r => r[c].Length)).ToList();
            foreach (var row in rows)
            {
                text.AppendLine("  " + string.Join(
                    "  ", row.Select((cell, c) => c < 2 ? cell.PadRight(widths[c]) : cell.PadLeft(widths[c]))));
            }
            foreach (var code in Codes(scenario))
            {
                text.Append("  ").AppendLine(code);
            }
        }
        return text.ToString();
    }

    public static string Csv(NodeStats stats)
    {
        var text = new StringBuilder().AppendLine(string.Join(',', ReportRow.Columns.Prepend("scenario")));
        foreach (var row in stats.ScenarioStats.SelectMany(ReportRow.Of))
        {
            text.AppendLine(string.Join(',', row.Cells.Prepend(row.Scenario)));
        }
        return text.ToString();
    }

    public static string Md(string title, NodeStats stats)
    {
        var text = new StringBuilder().AppendLine($"> {title}");
        foreach (var scenario in stats.ScenarioStats)
        {
            text.AppendLine().AppendLine($"## {Headline(scenario)}").AppendLine()
                .AppendLine($"| {string.Join(" | ", ReportRow.Columns)} |")
                .AppendLine($"| {string.Join(" | ", ReportRow.Columns.Select((_, c) => c < 2 ? "---" : "---:"))} |");
            foreach (var row in ReportRow.Of(scenario))
            {
                text.AppendLine($"| {string.Join(" | ", row.Cells)} |");
            }
            text.AppendLine();
            foreach (var code in Codes(scenario))
            {
                text.AppendLine($"- {code}");
            }
        }
        return text.ToString();
    }

    public static string Progress(ScenarioStats scenario, ScenarioOperation operation) => string.Create(
        CultureInfo.InvariantCulture,
        $"{scenario.ScenarioName}{(operation == ScenarioOperation.WarmUp ? " warms up" : "")}, "
            + $"{scenario.Duration:hh\\:mm\\:ss}: {scenario.Ok.Request.Count} ok, {scenario.Fail.Request.Count} "
            + $"failed, {scenario.Ok.Request.RPS:0.0}/s, p50 {scenario.Ok.Latency.Percent50:0.00} ms, "
            + $"p99 {scenario.Ok.Latency.Percent99:0.00} ms");

    public static string Headline(ScenarioStats scenario) => string.Create(
        CultureInfo.InvariantCulture,
        $"{scenario.ScenarioName}: {scenario.Ok.Request.Count} calls ok, {scenario.Fail.Request.Count} failed, "
            + $"in {scenario.Duration:hh\\:mm\\:ss}");

    public static IEnumerable<string> Codes(ScenarioStats scenario) =>
        scenario.Ok.StatusCodes.Concat(scenario.Fail.StatusCodes).Select(code => string.Create(
            CultureInfo.InvariantCulture,
            $"status {code.StatusCode}, {(code.IsError ? "fail" : "ok")}: "
                + $"{code.Count}{(code.Message.Length == 0 ? "" : ", " + code.Message)}"));
}
