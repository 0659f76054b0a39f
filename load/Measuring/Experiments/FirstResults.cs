using System.Globalization;
using System.Text.Json;
using Billing.Reporting;

namespace Billing.Measuring.Experiments;

/// <summary>Shows results of the first version of the format, in which every kind had members of its own: each list of objects as a
/// table, without charts.</summary>
internal static class FirstResults
{
    /// <summary>Creates the report of results that were read from a file.</summary>
    public static Report ReportOf(string kind, JsonElement results) => new()
    {
        Title = $"Results of {kind}",
        Subtitle = "Of an older version: its figures as they were written.",
        Facts =
        [
            .. results.TryGetProperty("run", out var run) ? Scalars("", run).Select(s => new Fact(s.Name, s.Value)) : [],
            .. Scalars("", results).Where(s => s.Name != "kind").Select(s => new Fact(s.Name, s.Value)),
        ],
        Sections = [.. Tables("", results)],
    };

    private static IEnumerable<Section> Tables(string name, JsonElement element)
    {
        foreach (var (path, list) in Members(name, element))
        {
            if (list.ValueKind == JsonValueKind.Array && list.EnumerateArray().Any(item => item.ValueKind == JsonValueKind.Object))
            {
                var rows = list.EnumerateArray().Where(item => item.ValueKind == JsonValueKind.Object).Select(item => Scalars("", item).ToList()).ToList();
                var columns = rows.SelectMany(row => row.Select(s => s.Name)).Distinct().ToList();
                if (columns.Count > 0)
                {
                    yield return new Section(path, new Table
                    {
                        Columns = [.. columns.Select(c => new Column(c, Align.Left))],
                        Rows = [.. rows.Select(row => new Row([.. columns.Select(c => (Cell)(row.FirstOrDefault(s => s.Name == c).Value ?? Numbers.None))]))],
                    });
                }
                foreach (var (item, i) in list.EnumerateArray().Select((item, i) => (item, i)))
                {
                    foreach (var section in Tables(string.Create(CultureInfo.InvariantCulture, $"{path} {i + 1}"), item))
                    {
                        yield return section;
                    }
                }
            }
            else if (list.ValueKind == JsonValueKind.Object && path != "run")
            {
                foreach (var section in Tables(path, list))
                {
                    yield return section;
                }
            }
        }
    }

    // The values of an object, also of objects in it, but not of lists.
    private static IEnumerable<(string Name, string Value)> Scalars(string name, JsonElement element) => element.ValueKind == JsonValueKind.Object
        ? Members(name, element).SelectMany(m => m.Value.ValueKind switch
        {
            JsonValueKind.Object => Scalars(m.Path, m.Value),
            JsonValueKind.Array => [],
            _ => [(m.Path, m.Value.ToString())],
        })
        : [];

    private static IEnumerable<(string Path, JsonElement Value)> Members(string name, JsonElement element) => element.ValueKind == JsonValueKind.Object
        ? element.EnumerateObject().Select(m => (name.Length > 0 ? $"{name}.{m.Name}" : m.Name, m.Value))
        : [];
}
