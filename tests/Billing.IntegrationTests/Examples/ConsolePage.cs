using System.Diagnostics;
using System.Text;
using System.Text.RegularExpressions;

namespace Billing.IntegrationTests.Examples;

/// <summary>The commands on a page, with the output that the page shows.</summary>
internal sealed partial class ConsolePage(string page, string language)
{
    // The script prints this after each command; no command of the page prints it.
    private const string EndOfOutput = "\u0001";

    /// <summary>The commands of the page's blocks in the language, each with its expected output.
    /// A command follows a <c>$</c> and continues on indented lines.</summary>
    public List<(string Command, string Output)> Examples { get; } = Read(Repository.Lines(page), "```" + language);

    /// <summary>Runs commands in one shell.</summary>
    /// <returns>What each has printed.</returns>
    public static async Task<string[]> RunAsync(
        IReadOnlyCollection<(string Command, string Output)> examples,
        Func<string, string> forThisStack, string folder, string first)
    {
        var script = new StringBuilder(first).Append('\n');
        foreach (var (command, _) in examples)
        {
            script.Append(forThisStack(command)).Append("\nprintf '\\001'\n");
        }
        var start = new ProcessStartInfo("bash", ["-c", "exec 2>&1; eval \"$(cat)\""])
        {
            WorkingDirectory = folder,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        };
        using var bash = Process.Start(start)!;
        await bash.StandardInput.WriteAsync(script);
        bash.StandardInput.Close();
        var printed = (await bash.StandardOutput.ReadToEndAsync()).Split(EndOfOutput);
        Assert.Equal(examples.Count + 1, printed.Length);
        return printed;
    }

    /// <summary>Fails if a command has printed something else than the page shows.</summary>
    public void Compare(IEnumerable<(string Command, string Output)> examples, IEnumerable<string> printed) =>
        Assert.All(examples.Zip(printed), example => Assert.True(
            Pattern(example.First.Output).IsMatch(NormalizeSpaces(example.Second)),
            $"$ {example.First.Command}\nprinted\n{example.Second}\nbut {page} shows\n{example.First.Output}"));

    private static List<(string Command, string Output)> Read(IEnumerable<string> page, string begin)
    {
        var examples = new List<(string Command, string Output)>();
        var isInside = false;
        var isCommand = false;
        foreach (var line in page)
        {
            if (line.StartsWith("```", StringComparison.Ordinal))
            {
                isInside = line == begin;
            }
            else if (isInside && line.StartsWith("$ ", StringComparison.Ordinal))
            {
                examples.Add((line[2..], ""));
                isCommand = true;
            }
            else if (isInside && isCommand && line.StartsWith("    ", StringComparison.Ordinal))
            {
                examples[^1] = (examples[^1].Command + "\n" + line, "");
            }
            else if (isInside)
            {
                isCommand = false;
                examples[^1] = (examples[^1].Command, examples[^1].Output + line + "\n");
            }
        }
        return examples;
    }

    private static Regex Pattern(string output) =>
        new(
            "^" + Regex.Escape(NormalizeSpaces(output)).Replace(@"\.\.\.", ".*?", StringComparison.Ordinal) + "$",
            RegexOptions.Singleline);

    // The indentation and spacing of grpcurl vary, and the page breaks lines of JSON after commas.
    private static string NormalizeSpaces(string text) =>
        Spaces().Replace(text, " ").Replace(", ", ",", StringComparison.Ordinal).Trim();

    [GeneratedRegex(@"\s+")]
    private static partial Regex Spaces();
}
