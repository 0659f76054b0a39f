using System.Globalization;
using System.Text;
using System.Text.Json;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Mutants;

/// <summary>A bug to insert into the sources.</summary>
/// <param name="File">The file that gets the bug, relative to the root of the sources.</param>
/// <param name="Find">Text that occurs exactly once in the file.</param>
/// <param name="Test">The namespace or class of the tests that must find the bug; null if the simulation must.</param>
internal sealed record Mutant(string Name, string File, string Find, string Replace, string? Test = null)
{
    /// <summary>The program that simulates.</summary>
    public const string Simulation = "Billing.Cli";

    /// <summary>The program that must find the bug: tests, or the simulation.</summary>
    public string Program => Test is null ? Simulation : string.Join('.', Test.Split('.').Take(2));

    private static readonly JsonSerializerOptions Json = new(JsonSerializerDefaults.Web);

    /// <summary>Reads the list of bugs.</summary>
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
/// <param name="By">What found it, or what did not.</param>
/// <param name="Seeds">Number of seeds that were simulated; 0 if a test found it.</param>
internal sealed record MutantResult(Mutant Mutant, bool IsFound, string By, int Seeds)
{
    /// <summary>The page of docs/planted-bugs.md, as Markdown: what was planted, and what found it.</summary>
    public static string Page(IReadOnlyCollection<MutantResult> results, DateOnly date)
    {
        var found = results.Count(result => result.IsFound);
        var page = new StringBuilder(string.Create(CultureInfo.InvariantCulture, $"""
            # Planted bugs

            `./billing mutants` plants each bug of `eng/mutants.json` alone in a copy of the sources. The simulation
            or a named test must find it: {found} of {results.Count} were found on {date:yyyy-MM-dd}.

            | Planted bug | In | Found by | After |
            | --- | --- | --- | --- |

            """));
        foreach (var result in results)
        {
            var seeds = result.Seeds == 0 ? "" : result.Seeds == 1 ? "1 schedule" : $"{result.Seeds} schedules";
            var file = Path.GetFileNameWithoutExtension(result.Mutant.File);
            var by = result.IsFound ? result.By : "**not found** " + result.By;
            page.Append($"| {result.Mutant.Name} | {file} | {by} | {seeds} |\n");
        }
        return page.ToString();
    }
}
