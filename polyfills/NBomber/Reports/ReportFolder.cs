using System.Globalization;
using NBomber.Contracts;
using NBomber.Contracts.Stats;

namespace NBomber.Reports;

internal static class ReportFolder
{
    /// <summary>Writes each wanted format as NAME.FORMAT, with NBomber's names where none are given.</summary>
    public static ReportFile[] Write(NBomberContext context, NodeStats stats)
    {
        if (context.ReportFormats.Count == 0)
        {
            return [];
        }
        var folder = context.ReportFolder ?? Path.Combine("reports", stats.TestInfo.SessionId);
        var name = context.ReportFileName
            ?? string.Create(CultureInfo.InvariantCulture, $"nbomber_report_{stats.TestInfo.Created:yyyy-MM-dd--HH-mm-ss}");
        Directory.CreateDirectory(folder);
        return [.. context.ReportFormats.Distinct().Select(format => Write(Path.Combine(folder, name), format, stats))];
    }

    private static ReportFile Write(string path, ReportFormat format, NodeStats stats)
    {
        var (extension, content) = format switch
        {
            ReportFormat.Txt => (".txt", TextReport.Txt(stats)),
            ReportFormat.Csv => (".csv", TextReport.Csv(stats)),
            ReportFormat.Md => (".md", TextReport.Md(stats)),
            ReportFormat.Html => (".html", HtmlReport.Of(stats)),
            _ => throw new InvalidOperationException($"The report format {format} is unknown."),
        };
        File.WriteAllText(path + extension, content);
        return new ReportFile { FilePath = path + extension, ReportFormat = format, ReportContent = content };
    }
}
