using System.CommandLine;
using Billing.Cli.Arguments;
using Billing.Cli.Setup;
using Billing.Operator.Arguments;
using Spectre.Console;

namespace Billing.Cli.Commands;

/// <summary>Runs the command line of <c>./billing</c> as a program.</summary>
internal static class BillingProgram
{
    // If it is set, a command line is checked and nothing is done. The script asks for this before it builds what a
    // command runs beside this program.
    private const string CheckVariable = "BILLING_CHECK";

    /// <param name="further">Additional commands of a program that extends this one; none if null.</param>
    public static Task<int> RunAsync(string[] arguments, Func<IAnsiConsole, IEnumerable<Command>>? further = null) =>
        CommandProgram.RunAsync(
            console => BillingCommand.Create(console, [.. further?.Invoke(console) ?? []]), arguments,
            async (parsed, run, cancellationToken) =>
            {
                if (Environment.GetEnvironmentVariable(CheckVariable) is { Length: > 0 })
                {
                    return 0;
                }
                await CommandSetup.PrepareAsync(parsed, cancellationToken);
                using var limit = ProcessorsFlag.Limit(parsed);
                return await run();
            });
}
