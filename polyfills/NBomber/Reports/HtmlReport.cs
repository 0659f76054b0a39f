using System.Net;
using System.Text;
using NBomber.Contracts.Stats;

namespace NBomber.Reports;

/// <summary>One page without scripts or anything from elsewhere.</summary>
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
        :root { color-scheme: light dark; }
        body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 82rem; padding: 0 1rem; }
        table { border-collapse: collapse; display: block; font-variant-numeric: tabular-nums; overflow-x: auto; }
        th, td { border-bottom: 1px solid #8884; padding: .3rem .45rem; text-align: right; white-space: nowrap; }
        th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; }
        </style>
        </head>
        <body>
        """;

    public static string Of(string title, NodeStats stats)
    {
        var html = new StringBuilder(Head).AppendLine().AppendLine($"<h1>Load report</h1><p>{Text(title)}</p>");
        foreach (var scenario in stats.ScenarioStats)
        {
            html.AppendLine($"<h2>{Text(TextReport.Headline(scenario))}</h2>")
                .AppendLine($"<table><thead><tr>{Cells("th", ReportRow.Columns)}</tr></thead><tbody>");
            foreach (var row in ReportRow.Of(scenario))
            {
                html.AppendLine($"<tr>{Cells("td", row.Cells)}</tr>");
            }
            html.AppendLine("</tbody></table>").AppendLine($"<ul>{Cells("li", TextReport.Codes(scenario))}</ul>");
        }
        return html.AppendLine("</body></html>").ToString();
    }

    private static string Cells(string tag, IEnumerable<string> cells) =>
        string.Concat(cells.Select(c => $"<{tag}>{Text(c)}</{tag}>"));

    private static string Text(string text) => WebUtility.HtmlEncode(text);
}
