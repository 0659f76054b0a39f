using System.Text;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Background;

/// <summary>The logs of the stack in the background: <c>logs</c>.</summary>
internal sealed class StackLogs : IDisposable
{
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(200);

    private readonly string _folder;
    private readonly TextWriter _output;
    private readonly List<LogTail> _tails;

    /// <summary>Opens the logs of the named processes, or all logs.</summary>
    /// <param name="folder">The folder of the logs, one file per process.</param>
    /// <param name="names">Processes of the stack, by the names that <c>status</c> shows; empty for all.</param>
    /// <param name="output">The output.</param>
    /// <exception cref="StackException">A name has no log.</exception>
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
        _tails = chosen.ConvertAll(name => new LogTail(
            Path.Combine(folder, name + ".log"), chosen.Count > 1 ? name.PadRight(width) + " | " : ""));
    }

    /// <summary>Prints the stack's logs, and with <paramref name="follow"/> new lines too, until it is cancelled or the stack is
    /// stopped.</summary>
    /// <exception cref="StackException">A name has no log.</exception>
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
    /// <param name="toTheEnd">Whether to print an incomplete last line too.</param>
    public void Print(bool toTheEnd)
    {
        foreach (var tail in _tails)
        {
            tail.Print(_output, toTheEnd);
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

    /// <inheritdoc/>
    public void Dispose() => _tails.ForEach(tail => tail.Dispose());

    /// <summary>One log file and the position up to which it was printed.</summary>
    private sealed class LogTail(string file, string prefix) : IDisposable
    {
        private readonly StreamReader _reader = new(
            new FileStream(file, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete), Encoding.UTF8);

        private readonly StringBuilder _line = new();

        public void Print(TextWriter output, bool toTheEnd)
        {
            for (var next = _reader.Read(); next >= 0; next = _reader.Read())
            {
                if (next == '\n')
                {
                    PrintLine(output);
                }
                else
                {
                    _line.Append((char)next);
                }
            }
            if (toTheEnd && _line.Length > 0)
            {
                PrintLine(output);
            }
            output.Flush();
        }

        public void Dispose() => _reader.Dispose();

        private void PrintLine(TextWriter output)
        {
            output.Write(prefix);
            output.WriteLine(_line);
            _line.Clear();
        }
    }
}
