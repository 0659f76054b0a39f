using System.CommandLine;
using System.CommandLine.Invocation;
using Spectre.Console;

namespace Billing.Operator.Arguments;

/// <summary>Runs a command line as a program.</summary>
internal static class CommandProgram
{
    // Files and pipes have no width of their own.
    private const int WidthOfFiles = 240;

    /// <summary>Parses the arguments, and runs the command that they name.</summary>
    /// <param name="create">Creates the root of the commands, which print to the console.</param>
    /// <param name="arguments">The arguments of the program.</param>
    /// <param name="around">Called with a valid command line and its command, instead of the command; null to run
    /// the command.</param>
    /// <returns>The exit code.</returns>
    public static async Task<int> RunAsync(
        Func<IAnsiConsole, Command> create, string[] arguments,
        Func<ParseResult, Func<Task<int>>, CancellationToken, Task<int>>? around = null)
    {
        var console = Console.IsOutputRedirected
            ? AnsiConsole.Create(
                new AnsiConsoleSettings { Ansi = AnsiSupport.No, Interactive = InteractionSupport.No })
            : AnsiConsole.Console;
        if (Console.IsOutputRedirected)
        {
            console.Profile.Width = WidthOfFiles;
        }
        var parsed = create(console).Parse(arguments);
        // One line says what is wrong; the whole page only helps where a command is missing.
        if (parsed.Action is ParseErrorAction refusal)
        {
            refusal.ShowHelp = parsed.CommandResult.Command.Subcommands.Count > 0;
        }
        if (around is not null && parsed is { Errors.Count: 0, Action: AsynchronousCommandLineAction action })
        {
            parsed.CommandResult.Command.Does((_, cancellationToken) =>
                around(parsed, () => action.InvokeAsync(parsed, cancellationToken), cancellationToken));
        }
        return await parsed.InvokeAsync(new InvocationConfiguration
        {
            // Ctrl-C requests an orderly stop: the processes that were started are stopped before this one ends.
            ProcessTerminationTimeout = TimeSpan.FromMinutes(1),
        });
    }
}
