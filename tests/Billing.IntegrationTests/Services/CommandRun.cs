using Billing.LocalStack.Processes;

namespace Billing.IntegrationTests.Services;

/// <summary>Runs a command as a separate process.</summary>
internal static class CommandRun
{
    /// <summary>The operators' program, as it is released.</summary>
    public const string Operator = "Billing.Operator";

    private const string Clone = "Billing.Cli";
    private const int LinesMax = 400;

    /// <summary>Starts a command of a program, by default that of <c>./billing</c>; its output goes to a log in the
    /// folder.</summary>
    public static ChildProcess Start(
        StackFolder folder, IEnumerable<string> arguments, IReadOnlyDictionary<string, string?>? environment = null,
        string program = Clone) =>
        ChildProcess.Start(new ChildProcessStart(
            "billing", "dotnet", [DotnetProgram.FileOf(program), .. arguments], folder.LogFile("billing"))
        {
            Environment = environment ?? new Dictionary<string, string?>(),
        });

    /// <summary>Runs a command to its end.</summary>
    public static async Task<(int ExitCode, string Output)> ToEndAsync(
        StackFolder folder, IEnumerable<string> arguments, IReadOnlyDictionary<string, string?>? environment = null,
        string program = Clone)
    {
        await using var process = Start(folder, arguments, environment, program);
        using var patience = new CancellationTokenSource(Patience, TimeProvider.System);
        await process.WaitForExitAsync(patience.Token);
        return (process.ExitCode ?? -1, string.Join('\n', process.LastLogLines(LinesMax)));
    }
}
