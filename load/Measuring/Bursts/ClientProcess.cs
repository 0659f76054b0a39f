using System.Globalization;
using System.Text.Json;
using Billing.LoadClient;
using Billing.LocalStack.Processes;

namespace Billing.Measuring.Bursts;

/// <summary>One load-generating client as a process of its own.</summary>
internal sealed class ClientProcess : IAsyncDisposable
{
    private readonly ControlledProcess _process;
    private readonly string _report;

    private ClientProcess(ControlledProcess process, string journal, string report)
    {
        _process = process;
        Journal = journal;
        _report = report;
    }

    /// <summary>The client's journal.</summary>
    public string Journal { get; }

    /// <summary>Number of requests answered or failed so far.</summary>
    public int Done => _process.Done;

    /// <param name="options">The load of the client.</param>
    /// <param name="number">The client's number, from 1: the seed of its accounts and amounts.</param>
    /// <param name="data">The folder for its journal and its report.</param>
    public static ClientProcess Start(LoadOptions options, int number, string data)
    {
        var journal = Path.Combine(data, "journal.csv");
        var report = Path.Combine(data, "report.json");
        var process = ControlledProcess.Start("A client", "Billing.LoadClient",
        [
            "--proxies", string.Join(',', options.Proxies),
            "--requests", Text(options.Requests),
            "--balances", Text(options.Balances),
            "--warm-up", Text(options.WarmUp),
            "--accounts", Text(options.Accounts),
            "--other-currency", Text(options.OtherCurrencyPercent),
            "--seed", Text(number),
            "--deadline", Text((int)options.Deadline.TotalSeconds),
            "--journal", journal, "--report", report, "--wait-for-go",
        ]);
        return new ClientProcess(process, journal, report);
    }

    /// <summary>Waits until the client has warmed up.</summary>
    public Task WaitUntilReadyAsync(CancellationToken cancellationToken) => _process.WaitUntilReadyAsync(cancellationToken);

    /// <summary>Starts the client and waits for its results.</summary>
    /// <exception cref="StackException">The client failed.</exception>
    public async Task<LoadResult> RunAsync(CancellationToken cancellationToken)
    {
        await _process.RunAsync(cancellationToken);
        await using var file = File.OpenRead(_report);
        return (await JsonSerializer.DeserializeAsync(file, LoadJson.Default.LoadResult, cancellationToken))!;
    }

    public ValueTask DisposeAsync() => _process.DisposeAsync();

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
