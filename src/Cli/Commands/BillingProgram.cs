using System.CommandLine;
using Spectre.Console;

namespace Billing.Cli.Commands;

/// <summary>Runs the command line of <c>./billing</c> as a program.</summary>
internal static class BillingProgram
{
    // A file or a pipe has no width to fit into.
    private const int WidthOfFiles = 240;

    /// <param name="arguments">The command and its options.</param>
    /// <param name="further">Commands of a program that builds on this one; none where absent.</param>
    /// <returns>The process's exit code.</returns>
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
            // Ctrl-C is a request to stop in good order; everything that was started is stopped before the process ends.
            ProcessTerminationTimeout = TimeSpan.FromMinutes(1),
        });
    }
}
