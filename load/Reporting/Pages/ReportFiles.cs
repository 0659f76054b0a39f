using Billing.Reporting.Charts;

namespace Billing.Reporting.Pages;

/// <summary>Where the files of a report go.</summary>
public static class ReportFiles
{
    /// <summary>Writes the report as one HTML file that needs nothing else, and each chart as an SVG file beside it.</summary>
    /// <param name="report">The report.</param>
    /// <param name="folderOrFile">A file, where it ends in <c>.html</c>; otherwise a folder, made where it is missing, which gets
    /// a <c>report.html</c>. What is there under the same names is replaced.</param>
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
        // Several reports may share a folder; one that has a folder for itself needs no longer names.
        var prefix = isFile ? Path.GetFileNameWithoutExtension(page) + "-" : "";
        foreach (var (name, chart) in Named(report))
        {
            await File.WriteAllTextAsync(Path.Combine(folder, prefix + name + ".svg"), chart.ToSvg(), cancellationToken);
        }
        return page;
    }

    /// <summary>The charts of a report with their files' names, each of which is used once.</summary>
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

    /// <summary>A text as a file name that is safe everywhere: lower-case letters, digits, and hyphens between.</summary>
    private static string Slug(string text)
    {
        var letters = text.ToLowerInvariant().Select(c => char.IsAsciiLetterOrDigit(c) ? c : '-').ToArray();
        var words = new string(letters).Split('-', StringSplitOptions.RemoveEmptyEntries);
        return words.Length == 0 ? "chart" : string.Join('-', words);
    }
}
