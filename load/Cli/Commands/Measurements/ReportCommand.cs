using System.CommandLine;
using Billing.LocalStack.Processes;
using Billing.Operator.Arguments;
using Billing.Reporting.Pages;
using Spectre.Console;

namespace Billing.Cli.Commands.Measurements;

/// <summary><c>./billing report</c>.</summary>
internal static class ReportCommand
{
    public static Command Create(IAnsiConsole console)
    {
        var files = new Argument<string[]>("files")
        {
            Description = "Result files: traces (.csv), and JSON with a member \"kind\"",
            Arity = ArgumentArity.OneOrMore,
        };
        files.AcceptLegalFilePathsOnly();
        var target = new Option<string>("--out")
        {
            Description = "HTML file, or folder for it",
            HelpName = "FILE",
            DefaultValueFactory = _ => "report.html",
        };
        var command = new Command("report", "Creates one HTML page from result files.") { files, target };
        command.SetAction((parsed, cancellationToken) => Guarded.RunAsync(async () =>
        {
            var paths = parsed.GetRequiredValue(files);
            if (Array.Find(paths, f => !File.Exists(f)) is { } missing)
            {
                throw new StackException(Directory.Exists(missing)
                    ? $"files: '{missing}' is a folder; name the files in it."
                    : $"files: there is no file '{missing}'.");
            }
            var page = await ResultFiles.ReadAll(paths).WriteAsync(parsed.GetRequiredValue(target), cancellationToken);
            console.MarkupLineInterpolated($"Report: {page}");
            return 0;
        }));
        return command;
    }
}
