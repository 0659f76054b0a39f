namespace Billing.Reporting.Pages;

/// <summary>Writes reports.</summary>
public static class ReportFiles
{
    /// <summary>Writes the report as one self-contained HTML file.</summary>
    /// <param name="folderOrFile">A file if it ends in <c>.html</c>; otherwise a folder, created if missing, for a
    /// <c>report.html</c>. An existing file is overwritten.</param>
    /// <returns>The path of the HTML file.</returns>
    /// <exception cref="IOException">The file cannot be written.</exception>
    public static async Task<string> WriteAsync(
        this Report report, string folderOrFile, CancellationToken cancellationToken = default)
    {
        var isFile = folderOrFile.EndsWith(".html", StringComparison.OrdinalIgnoreCase);
        var page = Path.GetFullPath(isFile ? folderOrFile : Path.Combine(folderOrFile, "report.html"));
        Directory.CreateDirectory(Path.GetDirectoryName(page)!);
        await File.WriteAllTextAsync(page, HtmlPage.Of(report), cancellationToken);
        return page;
    }
}
