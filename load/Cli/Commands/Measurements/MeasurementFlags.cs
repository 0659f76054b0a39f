using System.CommandLine;
using Billing.Measuring;
using Spectre.Console;

namespace Billing.Cli.Commands.Measurements;

/// <summary>The common options of the commands that measure: the folder of the results, and the measurement
/// that they create.</summary>
internal static class MeasurementFlags
{
    /// <summary>Creates the option for the folder of the results.</summary>
    /// <param name="holds">The files that it contains after the measurement.</param>
    public static Option<string?> Folder(string holds = "result.json and report.html") =>
        new("--out") { Description = $"Folder for {holds}; results/KIND-TIME by default", HelpName = "FOLDER" };

    /// <summary>Creates the option for a file of results, for commands without a folder of results.</summary>
    public static Option<string?> Report()
    {
        var report = new Option<string?>("--report")
        {
            Description = "JSON file for the figures; their HTML page is written beside it",
            HelpName = "FILE",
        };
        report.Validators.Add(result =>
        {
            if (result.Tokens.Count > 0 && result.Tokens[0].Value.EndsWith(".html", StringComparison.OrdinalIgnoreCase))
            {
                result.AddError(
                    "--report names the JSON file for the figures, such as report.json; "
                    + $"their HTML page is written beside it. It is {result.Tokens[0].Value}.");
            }
        });
        return report;
    }

    /// <summary>Creates the measurement for a command line.</summary>
    /// <param name="parsed">The command line.</param>
    /// <param name="folder">The option for the folder of the results.</param>
    /// <param name="kind">The kind of result, used for the folder's default name.</param>
    /// <param name="console">The output for the results.</param>
    public static Measurement Measurement(
        ParseResult parsed, Option<string?> folder, string kind, IAnsiConsole console) => new(
        CommandLine(parsed),
        new ResultFolder(console, parsed.GetValue(folder) ?? ResultFolder.DefaultName(kind, TimeProvider.System)),
        console, TimeProvider.System);

    /// <summary>Returns the command as it was typed, without connection strings, which may contain secrets.</summary>
    public static string CommandLine(ParseResult parsed)
    {
        var words = parsed.Tokens.Select(t => t.Value).ToList();
        return "./billing " + string.Join(
            ' ',
            words.Select((word, i) => i > 0 && words[i - 1] == "--postgres" && word != "auto" ? "..." : Quoted(word)));
    }

    private static string Quoted(string word) => word.Contains(' ', StringComparison.Ordinal) ? $"'{word}'" : word;
}
