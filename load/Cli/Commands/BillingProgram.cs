using System.CommandLine;
using Spectre.Console;

namespace Billing.Cli.Commands;

/// <summary>Runs the command line of <c>./billing</c> as a program.</summary>
internal static class BillingProgram
{
    // Files and pipes have no width of their own.
    private const int WidthOfFiles = 240;

    /// <param name="arguments">The command and its options.</param>
    /// <param name="further">Additional commands of a program that extends this one; none if null.</param>
    /// <returns>The exit code of the process.</returns>
    public static Task<int> RunAsync(string[] arguments, Func<IAnsiConsole, IEnumerable<Command>>? further = null)
    {
        var console = Console.IsOutputRedirected
            ? AnsiConsole.Create(new AnsiConsoleSettings { Ansi = AnsiSupport.No, Interactive = InteractionSupport.No })
            : AnsiConsole.Console;
        if (Console.IsOutputRedirected)
        {
            console.Profile.Width = WidthOfFiles;
        }
        return BillingCommand.Create(console, [.. further?.Invoke(console) ?? []]).Parse(arguments).InvokeAsync(new InvocationConfiguration
        {
            // Ctrl-C requests an orderly stop: the processes that were started are stopped before this one ends.
            ProcessTerminationTimeout = TimeSpan.FromMinutes(1),
        });
    }
}
