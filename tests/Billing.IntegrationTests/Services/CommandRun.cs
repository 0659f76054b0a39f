using Billing.LocalStack.Processes;

namespace Billing.IntegrationTests.Services;

/// <summary>Runs a command of <c>./billing</c> as a separate process.</summary>
internal static class CommandRun
{
    private const int LinesMax = 400;

    /// <summary>Starts a command; its output goes to a log in the folder.</summary>
    public static ChildProcess Start(
        StackFolder folder, IEnumerable<string> arguments, IReadOnlyDictionary<string, string?>? environment = null) =>
        ChildProcess.Start(new ChildProcessStart(
            "billing", "dotnet", [DotnetProgram.FileOf("Billing.Cli"), .. arguments], folder.LogFile("billing"))
        {
            Environment = environment ?? new Dictionary<string, string?>(),
        });

    /// <summary>Runs a command to its end.</summary>
    public static async Task<(int ExitCode, string Output)> ToEndAsync(
        StackFolder folder, IEnumerable<string> arguments, IReadOnlyDictionary<string, string?>? environment = null)
    {
        await using var process = Start(folder, arguments, environment);
        using var patience = new CancellationTokenSource(Patience, TimeProvider.System);
        await process.WaitForExitAsync(patience.Token);
        return (process.ExitCode ?? -1, string.Join('\n', process.LastLogLines(LinesMax)));
    }
}
