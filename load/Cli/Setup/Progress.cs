using Billing.LocalStack.Processes;

namespace Billing.Cli.Setup;

/// <summary>Long steps, whose output goes to a log.</summary>
internal static class Progress
{
    private const int LinesOfLog = 40;
    private const string EmptyLine = "\r\e[K";

    /// <summary>Runs a program with its output at the end of a log.</summary>
    /// <param name="failure">The message if it fails, after the last lines of the log.</param>
    public static Task RunAsync(
        string label, string log, Tool program, IEnumerable<string> arguments,
        string failure, CancellationToken cancellationToken) =>
        ShowAsync(label, log, async () =>
        {
            if (await program.LogAsync(arguments, log, cancellationToken) != 0)
            {
                throw new StackException(failure);
            }
        });

    /// <summary>Shows, on a terminal, how long a step has taken while it runs, and the end of
    /// its log if it fails.</summary>
    public static async Task ShowAsync(string label, string log, Func<Task> step)
    {
        try
        {
            await WithClockAsync(label, step);
        }
        catch (StackException) when (File.Exists(log))
        {
            await Console.Error.WriteLineAsync(string.Join('\n', File.ReadLines(log).TakeLast(LinesOfLog)));
            throw;
        }
    }

    /// <summary>Says what a step does, and on a terminal how long it has taken.</summary>
    public static async Task WithClockAsync(string label, Func<Task> step)
    {
        using var end = new CancellationTokenSource();
        var clock = TickAsync(label, end.Token);
        try
        {
            await step();
        }
        finally
        {
            await end.CancelAsync();
            await clock;
        }
    }

    private static async Task TickAsync(string label, CancellationToken end)
    {
        if (Console.IsErrorRedirected)
        {
            Messages.Say(label + " ...");
            return;
        }
        var start = TimeProvider.System.GetTimestamp();
        while (!end.IsCancellationRequested)
        {
            var seconds = TimeProvider.System.GetElapsedTime(start).TotalSeconds;
            await Console.Error.WriteAsync($"{EmptyLine}billing: {label} ... {seconds:0} s");
            await Task.Delay(TimeSpan.FromSeconds(1), end).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
        await Console.Error.WriteAsync(EmptyLine);
    }
}
