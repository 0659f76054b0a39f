using System.Globalization;
using System.Text.Json;
using Billing.Reporting;
using Billing.Reporting.Pages;
using Spectre.Console;

namespace Billing.Measuring;

/// <summary>Where a measurement's results go: to the console, and as JSON and HTML into a folder.</summary>
internal sealed class ResultFolder(IAnsiConsole console, string folder)
{
    /// <summary>The folder of a measurement, where none is asked for: of its own, below the current one.</summary>
    /// <param name="kind">What is measured, e.g. <c>sweep</c>.</param>
    /// <param name="time">Tells one from the next.</param>
    public static string DefaultName(string kind, TimeProvider time) => Path.Combine(
        "results", string.Create(CultureInfo.InvariantCulture, $"{kind}-{time.GetUtcNow():yyyyMMdd-HHmmss}"));

    /// <summary>Prints and writes everything; what was there under the same names is replaced.</summary>
    /// <exception cref="IOException">A file cannot be written.</exception>
    public async Task WriteAsync<T>(ResultFormat<T> format, T results)
    {
        var report = format.Page(results);
        ConsoleReport.Print(console, report);
        Directory.CreateDirectory(folder);
        var json = Path.Combine(folder, "result.json");
        await File.WriteAllBytesAsync(json, JsonSerializer.SerializeToUtf8Bytes(results, format.Json));
        var html = await report.WriteAsync(folder);
        console.WriteLine($"Results: {json}, {html}");
    }
}
