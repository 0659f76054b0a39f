using System.Globalization;
using System.Text;
using System.Text.Json;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Mutants;

/// <summary>A bug to plant.</summary>
/// <param name="Name">What the bug is.</param>
/// <param name="File">The file it is planted in, from the root of the sources.</param>
/// <param name="Find">Text that is there exactly once.</param>
/// <param name="Replace">Text in its place.</param>
/// <param name="Test">The namespace or class of the unit tests that find it; null where the simulation does.</param>
internal sealed record Mutant(string Name, string File, string Find, string Replace, string? Test = null)
{
    private static readonly JsonSerializerOptions Json = new(JsonSerializerDefaults.Web);

    /// <summary>All bugs of the list.</summary>
    /// <param name="root">The root of the sources.</param>
    /// <exception cref="StackException">The list cannot be read.</exception>
    public static IReadOnlyList<Mutant> ReadAll(string root)
    {
        var file = Path.Combine(root, "eng", "mutants.json");
        try
        {
            return JsonSerializer.Deserialize<List<Mutant>>(System.IO.File.ReadAllText(file), Json)!;
        }
        catch (JsonException e)
        {
            throw new StackException($"{file}: {e.Message}", e);
        }
    }
}

/// <summary>Whether a bug was found.</summary>
/// <param name="Mutant">The bug.</param>
/// <param name="IsFound">Whether it was.</param>
/// <param name="By">By what, or why not.</param>
/// <param name="Seeds">How many seeds it took; 0 where a test found it.</param>
internal sealed record MutantResult(Mutant Mutant, bool IsFound, string By, int Seeds)
{
    /// <summary>A table of results, in Markdown.</summary>
    public static string Table(IEnumerable<MutantResult> results)
    {
        var table = new StringBuilder("| Planted bug | In | Found by | After |\n| --- | --- | --- | --- |\n");
        foreach (var result in results)
        {
            var seeds = result.Seeds == 0 ? "" : result.Seeds == 1 ? "1 schedule" : string.Create(CultureInfo.InvariantCulture, $"{result.Seeds} schedules");
            table.Append(CultureInfo.InvariantCulture,
                $"| {result.Mutant.Name} | {Path.GetFileNameWithoutExtension(result.Mutant.File)} | {(result.IsFound ? "" : "**not found** ")}{result.By} | {seeds} |\n");
        }
        return table.ToString();
    }
}
