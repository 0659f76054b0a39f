using Billing.LocalStack.Processes;
using Billing.Operator.Arguments;
using Spectre.Console;

namespace Billing.Cli.Background;

/// <summary>Restarts services of the stack in the background when they end, as systemd would: a service that cannot
/// continue logs the reason, ends, and relies on the restart. A service that ends repeatedly is restarted with a
/// growing back-off.</summary>
internal sealed class Keeper(IAnsiConsole console, TimeProvider time)
{
    private const string Name = "keeper";

    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan WaitFirst = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan WaitMax = TimeSpan.FromSeconds(30);

    // After a run of this length the back-off starts again with the first wait.
    private static readonly TimeSpan StableRun = TimeSpan.FromMinutes(1);

    private readonly Dictionary<string, (long Ended, TimeSpan Wait)> _ended = new(StringComparer.Ordinal);

    /// <summary>Starts a keeper process for the stack in the state file.</summary>
    public static ChildProcess Start(StackFolder folder) => ChildProcess.Start(
        new ChildProcessStart(
            Name, DotnetProgram.Launcher, [DotnetProgram.FileOf("Billing.Cli"), "keep"], folder.LogFile(Name))
        {
            Environment =
                new Dictionary<string, string?> { ["BILLING_STATE"] = Path.GetDirectoryName(StackInBackground.File) },
            Detached = true,
        });

    /// <summary>Watches the services until it is cancelled or the stack is removed.</summary>
    public async Task<int> RunAsync(CancellationToken cancellationToken)
    {
        using var timer = new PeriodicTimer(PollInterval, time);
        while (await timer.WaitForNextTickAsync(cancellationToken))
        {
            if (await StackState.ReadAsync() is not { } state)
            {
                return 0;
            }
            var processes = state.Processes.Select(RestartIfEnded).ToList();
            if (!processes.SequenceEqual(state.Processes))
            {
                await (state with { Processes = processes }).WriteAsync();
            }
        }
        return 0;
    }

    private StackProcess RestartIfEnded(StackProcess process)
    {
        if (process.Restart is null || process.Identity.IsRunning)
        {
            return process;
        }
        var now = time.GetTimestamp();
        if (!_ended.TryGetValue(process.Name, out var last) || time.GetElapsedTime(last.Ended) > StableRun + last.Wait)
        {
            last = (now, WaitFirst);
            _ended[process.Name] = last;
            Log($"{process.Name} has ended; it is restarted in {last.Wait.TotalSeconds:0} s");
        }
        if (time.GetElapsedTime(last.Ended) < last.Wait)
        {
            return process;
        }
        var wait = last.Wait * 2 < WaitMax ? last.Wait * 2 : WaitMax;
        _ended[process.Name] = (now, wait);
        var started = ChildProcess.Start(process.Restart);
        Log($"{process.Name} was restarted as process {started.Id}");
        return process with { Identity = started.Identity };
    }

    private void Log(string message) => console.WriteLine($"{time.GetUtcNow():yyyy-MM-ddTHH:mm:ss.fffZ} {message}");
}
