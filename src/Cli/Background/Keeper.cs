using System.Globalization;
using Billing.LocalStack.Processes;
using Spectre.Console;

namespace Billing.Cli.Background;

/// <summary>Starts services of the stack in the background again when they end, as systemd or Kubernetes would: a service that
/// cannot go on ends and says so, and counts on that. What ends again and again is started after waits that grow.</summary>
/// <param name="console">Where to say what it does: its log.</param>
/// <param name="time">The clock.</param>
internal sealed class Keeper(IAnsiConsole console, TimeProvider time)
{
    private const string Name = "keeper";

    private static readonly TimeSpan LookInterval = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan WaitFirst = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan WaitMax = TimeSpan.FromSeconds(30);

    // What has run for so long starts again with the first wait.
    private static readonly TimeSpan GoodRun = TimeSpan.FromMinutes(1);

    private readonly Dictionary<string, (long Ended, TimeSpan Wait)> _ended = new(StringComparer.Ordinal);

    /// <summary>Starts a keeper of the stack whose state is written down.</summary>
    /// <exception cref="StackException">It could not be started.</exception>
    public static ChildProcess Start(StackFolder folder) => ChildProcess.Start(
        new ChildProcessStart(Name, DotnetProgram.Launcher, [DotnetProgram.FileOf("Billing.Cli"), "keep"], folder.LogFile(Name))
        {
            Environment = new Dictionary<string, string?> { ["BILLING_STATE"] = Path.GetDirectoryName(StackState.File) },
            Detached = true,
        });

    /// <summary>Looks after the services until it is told to end, or there is no stack any more.</summary>
    public async Task<int> RunAsync(CancellationToken cancellationToken)
    {
        using var timer = new PeriodicTimer(LookInterval, time);
        while (await timer.WaitForNextTickAsync(cancellationToken))
        {
            if (await StackState.ReadAsync() is not { } state)
            {
                return 0;
            }
            var processes = state.Processes.Select(Look).ToList();
            if (!processes.SequenceEqual(state.Processes))
            {
                await (state with { Processes = processes }).WriteAsync();
            }
        }
        return 0;
    }

    private StackProcess Look(StackProcess process)
    {
        if (process.Restart is null || process.Identity.IsRunning)
        {
            return process;
        }
        var now = time.GetTimestamp();
        if (!_ended.TryGetValue(process.Name, out var last) || time.GetElapsedTime(last.Ended) > GoodRun + last.Wait)
        {
            last = (now, WaitFirst);
            _ended[process.Name] = last;
            Say($"{process.Name} has ended; it is started again in {last.Wait.TotalSeconds:0} s");
        }
        if (time.GetElapsedTime(last.Ended) < last.Wait)
        {
            return process;
        }
        var wait = last.Wait * 2 < WaitMax ? last.Wait * 2 : WaitMax;
        _ended[process.Name] = (now, wait);
        var started = ChildProcess.Start(process.Restart);
        Say($"{process.Name} is started again, as process {started.Id}");
        return process with { Identity = started.Identity };
    }

    private void Say(FormattableString what) => console.WriteLine(
        $"{time.GetUtcNow().ToString("yyyy-MM-ddTHH:mm:ss.fffZ", CultureInfo.InvariantCulture)} {what.ToString(CultureInfo.InvariantCulture)}");
}
