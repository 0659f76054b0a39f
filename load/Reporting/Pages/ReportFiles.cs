using Billing.Reporting.Charts;

namespace Billing.Reporting.Pages;

/// <summary>Writes the files of a report.</summary>
public static class ReportFiles
{
    /// <summary>Writes the report as one self-contained HTML file, and each chart as an SVG file beside it.</summary>
    /// <param name="report">The report.</param>
    /// <param name="folderOrFile">A file if it ends in <c>.html</c>; otherwise a folder, created if missing, for a
    /// <c>report.html</c>. Existing files of the same names are overwritten.</param>
    /// <param name="cancellationToken">Stops between two files.</param>
    /// <returns>The path of the HTML file.</returns>
    /// <exception cref="IOException">A file cannot be written.</exception>
    public static async Task<string> WriteAsync(this Report report, string folderOrFile, CancellationToken cancellationToken = default)
    {
        var isFile = folderOrFile.EndsWith(".html", StringComparison.OrdinalIgnoreCase);
        var page = Path.GetFullPath(isFile ? folderOrFile : Path.Combine(folderOrFile, "report.html"));
        var folder = Path.GetDirectoryName(page)!;
        Directory.CreateDirectory(folder);
        await File.WriteAllTextAsync(page, HtmlPage.Of(report), cancellationToken);
        // Several reports may share a folder; the charts of a report.html need no prefix.
        var prefix = isFile ? Path.GetFileNameWithoutExtension(page) + "-" : "";
        foreach (var (name, chart) in Named(report))
        {
            await File.WriteAllTextAsync(Path.Combine(folder, prefix + name + ".svg"), chart.ToSvg(), cancellationToken);
        }
        return page;
    }

    /// <summary>Returns the charts of a report with the unique names of their files.</summary>
    internal static IEnumerable<(string Name, Chart Chart)> Named(Report report)
    {
        var used = new HashSet<string>(StringComparer.Ordinal);
        foreach (var chart in report.Sections.SelectMany(s => s.Blocks).OfType<Chart>())
        {
            var name = Slug(chart.Name.Length > 0 ? chart.Name : chart.Title);
            var unique = name;
            for (var n = 2; !used.Add(unique); n++)
            {
                unique = $"{name}-{n}";
            }
            yield return (unique, chart);
        }
    }

    /// <summary>Converts a text to a portable file name of lower-case letters, digits and hyphens.</summary>
    private static string Slug(string text)
    {
        var letters = text.ToLowerInvariant().Select(c => char.IsAsciiLetterOrDigit(c) ? c : '-').ToArray();
        var words = new string(letters).Split('-', StringSplitOptions.RemoveEmptyEntries);
        return words.Length == 0 ? "chart" : string.Join('-', words);
    }
}
