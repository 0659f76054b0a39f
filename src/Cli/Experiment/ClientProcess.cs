using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using Billing.Cli.Stack;
using Billing.Cli.Topology;
using Billing.Client.Load;

namespace Billing.Cli.Experiment;

/// <summary>One load-generating client as a process of its own, steered over its standard streams: it says when it has
/// warmed up, begins when it is told to, and reports its progress.</summary>
internal sealed class ClientProcess : IAsyncDisposable
{
    private readonly Process _process;
    private readonly string _report;
    private readonly TaskCompletionSource _ready = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Task _reading;
    private readonly Task<string> _errors;
    private int _done;

    private ClientProcess(Process process, string journal, string report)
    {
        _process = process;
        Journal = journal;
        _report = report;
        _reading = ReadAsync();
        _errors = process.StandardError.ReadToEndAsync();
    }

    /// <summary>The file with what was acknowledged.</summary>
    public string Journal { get; }

    /// <summary>Requests answered or failed so far.</summary>
    public int Done => Volatile.Read(ref _done);

    public static ClientProcess Start(LoadOptions options, int number, StackFolder folder)
    {
        var data = folder.CreateSubfolder(string.Create(CultureInfo.InvariantCulture, $"client-{number}"));
        var journal = Path.Combine(data, "journal.csv");
        var report = Path.Combine(data, "report.json");
        // The parent-death signal takes the client along however this process ends.
        var start = new ProcessStartInfo("setsid",
        [
            "setpriv", "--pdeathsig=KILL", ServiceProcess.Dotnet, ServiceProcess.ProgramFile("Billing.Client"),
            "--proxies", string.Join(',', options.Proxies),
            "--requests", Text(options.Requests),
            "--balances", Text(options.Balances),
            "--warm-up", Text(options.WarmUp),
            "--accounts", Text(options.Accounts),
            "--seed", Text(number),
            "--deadline", Text((int)options.Deadline.TotalSeconds),
            "--journal", journal, "--report", report, "--wait-for-go",
        ])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        foreach (var (name, value) in ServiceProcess.Runtime)
        {
            start.Environment[name] = value;
        }
        return new ClientProcess(ChildProcess.Launch(start), journal, report);
    }

    /// <summary>Waits until the client has warmed up.</summary>
    public Task WaitUntilReadyAsync(CancellationToken cancellationToken) => _ready.Task.WaitAsync(cancellationToken);

    /// <summary>Lets the client begin, and waits for its measurements.</summary>
    /// <exception cref="StackException">The client failed.</exception>
    public async Task<LoadResult> RunAsync(CancellationToken cancellationToken)
    {
        await _process.StandardInput.WriteLineAsync("go".AsMemory(), cancellationToken);
        await _process.StandardInput.FlushAsync(cancellationToken);
        await _reading.WaitAsync(cancellationToken);
        await _process.WaitForExitAsync(cancellationToken);
        if (_process.ExitCode != 0)
        {
            throw new StackException($"A client failed with exit code {_process.ExitCode}. {await _errors}");
        }
        await using var file = File.OpenRead(_report);
        return (await JsonSerializer.DeserializeAsync(file, LoadJson.Default.LoadResult, cancellationToken))!;
    }

    public async ValueTask DisposeAsync()
    {
        if (!_process.HasExited)
        {
            _process.Kill();
            await _process.WaitForExitAsync();
        }
        _process.Dispose();
    }

    private async Task ReadAsync()
    {
        while (await _process.StandardOutput.ReadLineAsync() is { } line)
        {
            if (line == "ready")
            {
                _ready.TrySetResult();
            }
            else if (line.StartsWith("done ", StringComparison.Ordinal))
            {
                Volatile.Write(ref _done, int.Parse(line.AsSpan(5), CultureInfo.InvariantCulture));
            }
        }
        _ready.TrySetException(new StackException($"A client ended before it was ready. {await _errors}"));
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
