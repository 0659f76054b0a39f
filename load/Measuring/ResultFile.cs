using System.Text.Json;
using Billing.Reporting;
using Billing.Reporting.Pages;
using Spectre.Console;

namespace Billing.Measuring;

/// <summary>Where results go that are asked for as a file.</summary>
internal static class ResultFile
{
    /// <summary>Writes results as JSON, and their page beside them, with <c>.html</c> in place of the file's ending; what was there is
    /// replaced.</summary>
    /// <exception cref="IOException">A file cannot be written.</exception>
    public static async Task WriteAsync<T>(IAnsiConsole console, ResultFormat<T> format, T results, string path)
    {
        await File.WriteAllBytesAsync(path, JsonSerializer.SerializeToUtf8Bytes(results, format.Json));
        var page = await format.Page(results).WriteAsync(Path.ChangeExtension(path, ".html"));
        console.WriteLine($"Report: {path}, {page}");
    }
}
