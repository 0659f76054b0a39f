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

    private string Finder => Mutant.Test is null ? "the simulation" : By.Split('.')[0];

    /// <summary>The page of docs/planted-bugs.md, as Markdown: how many bugs were planted in each file, and what found
    /// them.</summary>
    public static string Page(IReadOnlyCollection<MutantResult> results, DateOnly date)
    {
        var found = results.Count(result => result.IsFound);
        var page = new StringBuilder(string.Create(CultureInfo.InvariantCulture, $"""
            # Planted bugs

            `./billing mutants` plants each bug of [mutants.json](../eng/mutants.json) alone in a copy of the sources.
            The simulation must find it, or the tests that it names: {found} of {results.Count} were found on
            {date:yyyy-MM-dd}.


            """));
        foreach (var result in results.Where(result => !result.IsFound))
        {
            page.Append($"- **Not found** by {result.By}: {result.Mutant.Name}\n");
        }
        foreach (var file in results.Where(result => result.IsFound).GroupBy(result => result.Mutant.File))
        {
            var line = $"- {Path.GetFileNameWithoutExtension(file.Key)}:";
            foreach (var finder in file.GroupBy(result => result.Finder).Select(Of))
            {
                if (line.Length + 1 + finder.Length > LineMax)
                {
                    page.Append(line).Append('\n');
                    line = " ";
                }
                line += " " + finder;
            }
            page.Append(line.TrimEnd(',')).Append('\n');
        }
        return page.ToString();
    }

    private static string Of(IGrouping<string, MutantResult> found)
    {
        var seeds = found.Select(result => result.Seeds).Where(seeds => seeds > 0).Distinct().Order().ToList();
        var schedules = seeds switch
        {
            [] => "",
            [1] => " (after 1 schedule)",
            [var one] => $" (after {one} schedules)",
            [var first, .., var last] => $" (after {first} to {last} schedules)",
        };
        return $"{found.Key} {found.Count()}{schedules},";
    }
}
