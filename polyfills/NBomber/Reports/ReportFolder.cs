using System.Globalization;
using NBomber.Contracts;
using NBomber.Contracts.Stats;

namespace NBomber.Reports;

internal static class ReportFolder
{
    /// <summary>Writes each wanted format as NAME.FORMAT.</summary>
    public static void Write(NBomberContext context, string title, NodeStats stats, TimeProvider time)
    {
        var now = time.GetUtcNow();
        var folder = context.ReportFolder
            ?? Path.Combine("reports", string.Create(CultureInfo.InvariantCulture, $"{now:yyyy-MM-dd_HH.mm.ss}"));
        var name = context.ReportFileName
            ?? string.Create(CultureInfo.InvariantCulture, $"nbomber_report_{now:yyyy-MM-dd--HH-mm-ss}");
        foreach (var format in context.ReportFormats)
        {
            var (extension, content) = format switch
            {
                ReportFormat.Txt => ("txt", TextReport.Txt(title, stats)),
                ReportFormat.Csv => ("csv", TextReport.Csv(stats)),
                ReportFormat.Md => ("md", TextReport.Md(title, stats)),
                _ => ("html", HtmlReport.Of(title, stats)),
            };
            Directory.CreateDirectory(folder);
            File.WriteAllText(Path.Combine(folder, $"{name}.{extension}"), content);
        }
    }
}
