using System.Text.Json;
using Billing.Reporting;
using Billing.Reporting.Pages;
using Spectre.Console;

namespace Billing.Measuring;

/// <summary>Writes results to a file that the user names.</summary>
internal static class ResultFile
{
    /// <summary>Writes results as JSON, and their page next to them with the extension <c>.html</c>;
    /// existing files are replaced.</summary>
    /// <exception cref="IOException">A file cannot be written.</exception>
    public static async Task WriteAsync<T>(IAnsiConsole console, ResultFormat<T> format, T results, string path)
    {
        await File.WriteAllBytesAsync(path, JsonSerializer.SerializeToUtf8Bytes(results, format.Json));
        var page = await format.Page(results).WriteAsync(Path.ChangeExtension(path, ".html"));
        console.WriteLine($"Report: {path}, {page}");
    }
}
