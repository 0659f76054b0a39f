using System.Text.Json;
using Billing.Measuring.Bursts;
using Billing.Measuring.Experiments;
using Billing.Measuring.Experiments.Sweeps;
using Billing.Measuring.Soaks;
using Billing.Measuring.Tracing;
using Billing.Reporting;

namespace Billing.Cli.Commands.Measurements;

/// <summary>Creates reports from result files: traces, and JSON with the kind of result in its member
/// <c>kind</c>.</summary>
internal static class ResultFiles
{
    private static readonly Dictionary<string, IResultFormat> Kinds = ((IResultFormat[])
    [
        RunResult.Format, ChaosResult.Format, TraceResult.Format,
        .. new[] { Sweep.Kind, "compare-paper", "compare-ceiling", "compare-scale", "compare-eda", "compare-rpc" }
            .Select(ExperimentRunner.FormatOf),
    ]).ToDictionary(format => format.Kind, StringComparer.Ordinal);

    /// <summary>Reads a result file.</summary>
    /// <exception cref="FormatException">The file contains no known kind of result;
    /// the message names the file and the known kinds.</exception>
    /// <exception cref="IOException">The file cannot be read.</exception>
    public static Report Read(string path)
    {
        if (path.EndsWith(".csv", StringComparison.OrdinalIgnoreCase))
        {
            return ReadTrace(path);
        }
        try
        {
            using var json = JsonDocument.Parse(File.ReadAllBytes(path));
            var kind = json.RootElement.ValueKind == JsonValueKind.Object
                && json.RootElement.TryGetProperty("kind", out var member) && member.ValueKind == JsonValueKind.String
                ? member.GetString()!
                : throw new FormatException(
                    $"{path}: has no member \"kind\" with the kind of result; known kinds are {Known}.");
            return Kinds.TryGetValue(kind, out var format)
                ? format.ReportOf(json.RootElement)
                : throw new FormatException($"{path}: the kind \"{kind}\" is unknown; known kinds are {Known}.");
        }
        catch (JsonException e)
        {
            throw new FormatException($"{path}: cannot be read as results: {e.Message}", e);
        }
    }

    /// <summary>Returns one report of all files; if there are several, each becomes a part
    /// with its own title.</summary>
    /// <exception cref="FormatException">As with <see cref="Read"/>.</exception>
    /// <exception cref="IOException">As with <see cref="Read"/>.</exception>
    public static Report ReadAll(IReadOnlyList<string> paths)
    {
        var reports = paths.Select(Read).ToList();
        return reports.Count == 1 ? reports[0] : new Report
        {
            Title = "Measurements",
            Subtitle = $"From {reports.Count} result files.",
            Sections = [.. reports.Zip(paths).SelectMany(part => Parts(part.First, part.Second))],
        };
    }

    private static string Known => string.Join(", ", Kinds.Keys.Order(StringComparer.Ordinal));

    private static IEnumerable<Section> Parts(Report report, string path)
    {
        var facts = new Table
        {
            Columns = [new("File", Align.Left), new(path, Align.Left)],
            Rows = [.. report.Facts.Select(f => new Row(f.Name, f.Value))],
        };
        yield return new Section(
            report.Title, report.Facts.Count > 0 ? [new Prose(report.Subtitle), facts] : [new Prose(report.Subtitle)]);
        foreach (var section in report.Sections)
        {
            yield return section;
        }
    }

    // With the results of the run that wrote it, if they are in the same folder.
    private static Report ReadTrace(string path)
    {
        var (payments, results) =
            (TraceFile.Read(path), Path.Combine(Path.GetDirectoryName(Path.GetFullPath(path))!, "result.json"));
        try
        {
            var result = File.Exists(results)
                ? JsonSerializer.Deserialize(File.ReadAllBytes(results), TraceJson.Default.TraceResult)
                : null;
            return TraceResult.FormatOf(found => TracePage.Of(found, payments)).Page(result!);
        }
        catch (JsonException)
        {
            // The results of another measurement; the trace is reported without.
            return TracePage.Of(null, payments);
        }
    }
}
