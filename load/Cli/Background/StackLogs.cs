using Billing.LocalStack.Processes;

namespace Billing.Cli.Background;

/// <summary>The logs of the stack in the background: <c>logs</c>.</summary>
internal sealed class StackLogs : IDisposable
{
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(200);

    private readonly string _folder;
    private readonly TextWriter _output;
    private readonly List<(LogReader Log, string Prefix)> _logs;

    /// <summary>Opens the logs of the named processes, or all logs.</summary>
    public StackLogs(string folder, IReadOnlyCollection<string> names, TextWriter output)
    {
        _folder = folder;
        _output = output;
        var all = Directory.Exists(folder)
            ? Directory.EnumerateFiles(folder, "*.log").Select(file => Path.GetFileNameWithoutExtension(file)).Order(StringComparer.Ordinal).ToList()
            : throw new StackException($"The folder of the stack's logs, {folder}, does not exist.");
        if (names.FirstOrDefault(name => !all.Contains(name)) is { } unknown)
        {
            throw new StackException($"There is no log of '{unknown}'; there are {string.Join(", ", all)}.");
        }
        var chosen = names.Count > 0 ? all.Where(names.Contains).ToList() : all;
        var width = chosen.Max(name => name.Length);
        _logs = chosen.ConvertAll(name => (
            new LogReader(Path.Combine(folder, name + ".log")), chosen.Count > 1 ? name.PadRight(width) + " | " : ""));
    }

    /// <summary>Prints the stack's logs, and with <paramref name="follow"/> new lines too, until it is cancelled or the stack is
    /// stopped.</summary>
    public static async Task<int> PrintAsync(
        IReadOnlyCollection<string> names, bool follow, TextWriter output, CancellationToken cancellationToken)
    {
        if (await StackState.ReadAsync() is not { } state)
        {
            await output.WriteLineAsync("No stack is running.");
            return 1;
        }
        using var logs = new StackLogs(state.Logs, names, output);
        if (follow)
        {
            await logs.FollowAsync(TimeProvider.System, cancellationToken);
        }
        else
        {
            logs.Print(toTheEnd: true);
        }
        return 0;
    }

    /// <summary>Prints the lines added since the last call.</summary>
    public void Print(bool toTheEnd)
    {
        foreach (var (log, prefix) in _logs)
        {
            while (log.ReadLine() is { } line)
            {
                _output.WriteLine(prefix + line);
            }
            if (toTheEnd && log.TakeIncomplete() is { Length: > 0 } rest)
            {
                _output.WriteLine(prefix + rest);
            }
            _output.Flush();
        }
    }

    /// <summary>Prints new lines until it is cancelled or the logs are deleted.</summary>
    public async Task FollowAsync(TimeProvider time, CancellationToken cancellationToken)
    {
        using var poll = new PeriodicTimer(PollInterval, time);
        try
        {
            do
            {
                Print(toTheEnd: false);
            }
            while (Directory.Exists(_folder) && await poll.WaitForNextTickAsync(cancellationToken));
        }
        catch (OperationCanceledException)
        {
            // Ctrl-C ends following.
        }
        Print(toTheEnd: true);
    }

    public void Dispose() => _logs.ForEach(log => log.Log.Dispose());
}
