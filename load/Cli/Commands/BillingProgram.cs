using System.CommandLine;
using System.CommandLine.Help;
using System.CommandLine.Invocation;
using Billing.Cli.Arguments;
using Billing.Cli.Setup;
using Spectre.Console;

namespace Billing.Cli.Commands;

/// <summary>Runs the command line of <c>./billing</c> as a program.</summary>
internal static class BillingProgram
{
    // Files and pipes have no width of their own.
    private const int WidthOfFiles = 240;

    // If it is set, a command line is checked and nothing is done.
    private const string CheckVariable = "BILLING_CHECK";

    /// <param name="further">Additional commands of a program that extends this one; none if null.</param>
    public static async Task<int> RunAsync(string[] arguments, Func<IAnsiConsole, IEnumerable<Command>>? further = null)
    {
        var console = Console.IsOutputRedirected
            ? AnsiConsole.Create(new AnsiConsoleSettings { Ansi = AnsiSupport.No, Interactive = InteractionSupport.No })
            : AnsiConsole.Console;
        if (Console.IsOutputRedirected)
        {
            console.Profile.Width = WidthOfFiles;
        }
        var parsed = BillingCommand.Create(console, [.. further?.Invoke(console) ?? []]).Parse(arguments);
        // One line says what is wrong; the whole page only helps where a command is missing.
        if (parsed.Action is ParseErrorAction refusal)
        {
            refusal.ShowHelp = parsed.CommandResult.Command.Subcommands.Count > 0;
        }
        var isValid = parsed.Errors.Count == 0 && parsed.Action is not HelpAction;
        // The script asks for this before it builds what a command runs beside this program.
        if (isValid && Environment.GetEnvironmentVariable(CheckVariable) is { Length: > 0 })
        {
            return 0;
        }
        if (isValid && parsed.Action is AsynchronousCommandLineAction action)
        {
            parsed.CommandResult.Command.Does(async (_, cancellationToken) =>
            {
                await CommandSetup.PrepareAsync(parsed, cancellationToken);
                using var limit = ProcessorsFlag.Limit(parsed);
                return await action.InvokeAsync(parsed, cancellationToken);
            });
        }
        return await parsed.InvokeAsync(new InvocationConfiguration
        {
            // Ctrl-C requests an orderly stop: the processes that were started are stopped before this one ends.
            ProcessTerminationTimeout = TimeSpan.FromMinutes(1),
        });
    }
}
