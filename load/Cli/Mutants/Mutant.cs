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
/// <param name="By">What found it, or what did not: the simulation, or the class and name of a test.</param>
/// <param name="Seeds">Number of seeds that were simulated; 0 if a test found it.</param>
internal sealed record MutantResult(Mutant Mutant, bool IsFound, string By, int Seeds)
{
    private const int LineMax = 120;

    /// <summary>The page of docs/planted-bugs.md, as Markdown: what was planted in each file, and what found it.</summary>
    public static string Page(IReadOnlyCollection<MutantResult> results, DateOnly date)
    {
        var found = results.Count(result => result.IsFound);
        var page = new StringBuilder(string.Create(CultureInfo.InvariantCulture, $"""
            # Planted bugs

            `./billing mutants` plants each bug of `eng/mutants.json` alone in a copy of the sources. The simulation must
            find it, or the named tests: {found} of {results.Count} were found on {date:yyyy-MM-dd}.

            """));
        foreach (var file in results.GroupBy(result => result.Mutant.File))
        {
            page.Append($"\n## {Path.GetFileNameWithoutExtension(file.Key)}\n\n");
            foreach (var result in file)
            {
                var bug = $"- {result.Mutant.Name}:";
                page.Append(bug).Append(bug.Length + 1 + result.Finder.Length > LineMax ? "\n  " : " ").Append(result.Finder).Append('\n');
            }
        }
        return page.ToString();
    }

    private string Finder => (IsFound, Seeds, Mutant.Test) switch
    {
        (false, _, _) => "**not found** by " + By,
        (_, _, not null) => By.Split('.')[0],
        (_, 0, _) => By,
        (_, 1, _) => "simulation, 1 schedule",
        _ => $"simulation, {Seeds} schedules",
    };
}
