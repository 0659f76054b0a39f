using System.Globalization;
using System.Text.Json;
using Billing.Reporting;
using Billing.Reporting.Pages;
using Spectre.Console;

namespace Billing.Measuring;

/// <summary>Prints a measurement's results and writes them as JSON and HTML into a folder.</summary>
internal sealed class ResultFolder(IAnsiConsole console, string folder)
{
    /// <summary>Returns the default folder of a measurement: one of its own, below the current folder.</summary>
    /// <param name="kind">The kind of measurement, e.g. <c>sweep</c>.</param>
    /// <param name="time">The clock for the timestamp in the name.</param>
    public static string DefaultName(string kind, TimeProvider time) => Path.Combine(
        "results", string.Create(CultureInfo.InvariantCulture, $"{kind}-{time.GetUtcNow():yyyyMMdd-HHmmss}"));

    /// <summary>Prints and writes the results; existing files are replaced.</summary>
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
