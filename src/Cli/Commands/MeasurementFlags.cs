using System.CommandLine;
using Billing.Measuring;
using Spectre.Console;

namespace Billing.Cli.Commands;

/// <summary>What the commands that measure have in common: the option that names the folder of their results, and the measurement
/// that a command line asks for.</summary>
internal static class MeasurementFlags
{
    /// <summary>The option that names the folder of the results.</summary>
    /// <param name="holds">What it holds afterwards.</param>
    public static Option<string?> Folder(string holds = "result.json and report.html") =>
        new("--out") { Description = $"Folder for {holds}; results/KIND-TIME by default", HelpName = "FOLDER" };

    /// <summary>The option that names a file for results, where they are no whole folder.</summary>
    public static Option<string?> Report()
    {
        var report = new Option<string?>("--report") { Description = "File for the figures, as JSON; their page goes beside it, as .html", HelpName = "FILE" };
        report.Validators.Add(result =>
        {
            if (result.Tokens.Count > 0 && result.Tokens[0].Value.EndsWith(".html", StringComparison.OrdinalIgnoreCase))
            {
                result.AddError($"--report names the file for the figures, such as report.json; their page goes beside it as .html. It is {result.Tokens[0].Value}.");
            }
        });
        return report;
    }

    /// <summary>The measurement that a command line asks for.</summary>
    /// <param name="parsed">The command line.</param>
    /// <param name="folder">The option that names the folder of its results.</param>
    /// <param name="kind">Names the folder otherwise.</param>
    /// <param name="console">Where the results are printed.</param>
    public static Measurement Measurement(ParseResult parsed, Option<string?> folder, string kind, IAnsiConsole console) => new(
        CommandLine(parsed),
        new ResultFolder(console, parsed.GetValue(folder) ?? ResultFolder.DefaultName(kind, TimeProvider.System)),
        console, TimeProvider.System);

    /// <summary>The command as it was typed, but for what may be secret.</summary>
    public static string CommandLine(ParseResult parsed)
    {
        var words = parsed.Tokens.Select(t => t.Value).ToList();
        return "./billing " + string.Join(' ', words.Select((word, i) => i > 0 && words[i - 1] == "--postgres" && word != "auto" ? "..." : Quoted(word)));
    }

    private static string Quoted(string word) => word.Contains(' ', StringComparison.Ordinal) ? $"'{word}'" : word;
}
