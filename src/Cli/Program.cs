using System.CommandLine;
using Billing.Cli.Commands;
using Spectre.Console;

// A file or a pipe has no width to fit into, and no colours.
var console = Console.IsOutputRedirected
    ? AnsiConsole.Create(new AnsiConsoleSettings { Ansi = AnsiSupport.No, Interactive = InteractionSupport.No })
    : AnsiConsole.Console;
if (Console.IsOutputRedirected)
{
    console.Profile.Width = 160;
}

return await BillingCommand.Create(console).Parse(args).InvokeAsync(new InvocationConfiguration
{
    // Ctrl-C is a request to stop in good order; everything that was started is stopped before the process ends.
    ProcessTerminationTimeout = TimeSpan.FromMinutes(1),
});
