using System.Net;
using System.Text;
using NBomber.Contracts.Stats;

namespace NBomber.Reports;

/// <summary>One page without scripts or anything from elsewhere, for light and dark screens.</summary>
internal static class HtmlReport
{
    private const string Head = """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Load report</title>
        <style>
        :root { color-scheme: light dark; --line: #8884; --good: #2a7d46; --bad: #b3261e; }
        @media (prefers-color-scheme: dark) { :root { --good: #6fcf97; --bad: #ff8a80; } }
        body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 82rem; padding: 0 1rem; }
        h2 { margin-top: 2rem; }
        .wide { overflow-x: auto; }
        table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
        th, td { border-bottom: 1px solid var(--line); padding: .3rem .45rem; text-align: right; white-space: nowrap; }
        th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; }
        .ok { color: var(--good); } .fail { color: var(--bad); }
        svg { display: block; margin: 1rem 0; max-width: 40rem; width: 100%; }
        svg rect { fill: var(--good); } svg text { fill: currentColor; font-size: 12px; }
        </style>
        </head>
        <body>
        """;

    public static string Of(NodeStats stats)
    {
        var html = new StringBuilder(Head).AppendLine().AppendLine($"<h1>Load report</h1><p>{Text(TextReport.Title(stats))}</p>");
        foreach (var scenario in stats.ScenarioStats)
        {
            html.AppendLine($"<h2>{Text(TextReport.Headline(scenario))}</h2>").AppendLine(Bars(scenario.Ok.Latency));
            html.AppendLine($"<div class=\"wide\"><table><thead><tr>{Cells("th", ReportRow.Columns)}</tr></thead><tbody>");
            foreach (var row in ReportRow.Of(scenario))
            {
                html.AppendLine($"<tr class=\"{(row.Stats.Request.Count == 0 ? "" : row.Outcome)}\">{Cells("td", row.Cells)}</tr>");
            }
            html.AppendLine("</tbody></table></div><ul>");
            foreach (var code in TextReport.Codes(scenario))
            {
                html.AppendLine($"<li class=\"{(code.IsError ? "fail" : "ok")}\">{Text(TextReport.Code(code))}</li>");
            }
            html.AppendLine("</ul>");
        }
        return html.AppendLine("</body></html>").ToString();
    }

    private static string Cells(string tag, IEnumerable<string> cells) =>
        string.Concat(cells.Select(c => $"<{tag}>{Text(c)}</{tag}>"));

    private static string Bars(LatencyStats latency)
    {
        (string Name, double Ms)[] bars =
            [("p50", latency.Percent50), ("p75", latency.Percent75), ("p95", latency.Percent95), ("p99", latency.Percent99), ("max", latency.MaxMs)];
        var longest = Math.Max(bars.Max(b => b.Ms), double.Epsilon);
        var svg = new StringBuilder("<svg viewBox=\"0 0 600 110\" role=\"img\" aria-label=\"Latencies of the calls that ended well\">");
        for (var i = 0; i < bars.Length; i++)
        {
            var width = TextReport.Decimal(420 * bars[i].Ms / longest);
            svg.Append($"<text x=\"0\" y=\"{22 * i + 14}\">{bars[i].Name}</text><rect x=\"40\" y=\"{22 * i + 2}\" width=\"{width}\" height=\"15\"/>")
                .Append($"<text x=\"470\" y=\"{22 * i + 14}\">{TextReport.Decimal(bars[i].Ms)} ms</text>");
        }
        return svg.Append("</svg>").ToString();
    }

    private static string Text(string text) => WebUtility.HtmlEncode(text);
}
