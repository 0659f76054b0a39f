using Billing.Cli.Commands.Measurements;
using Billing.LocalStack;
using Billing.Measuring;
using Billing.Measuring.Tracing;
using Billing.Reporting;
using Npgsql;
using Spectre.Console;

namespace Billing.IntegrationTests.Services;

/// <summary>The command <c>./billing trace</c> against a running stack.</summary>
[Collection(InOneProcess.Name)]
public sealed class Traces(EmbeddedStack stack) : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("billing-trace-");

    public void Dispose() => _folder.Delete(recursive: true);

    [Fact]
    public async Task A_trace_contains_every_payment_with_its_steps_and_the_timestamp_of_the_store()
    {
        var exit = await RunAsync(requests: 200, rate: 400, CancellationToken.None);

        var payments = TraceFile.Read(Path.Combine(_folder.FullName, "trace.csv"));
        Assert.Equal(0, exit);
        Assert.Equal(200, payments.Count);
        Assert.Equal(200, payments.Select(p => p.TransactionId).Distinct().Count());
        Assert.All(payments, p => Assert.Equal(
            Enum.GetValues<Moment>().Except([Moment.Appended]), Enum.GetValues<Moment>().Where(p.Has)));
        Assert.All(payments, p => Assert.InRange(p[Moment.Recorded], p[Moment.Sent], p[Moment.Returned]));
        Assert.Contains(
            "proxy → backend",
            await File.ReadAllTextAsync(
                Path.Combine(_folder.FullName, "report.html"), TestContext.Current.CancellationToken),
            StringComparison.Ordinal);
        Assert.Equal(
            "Time of a payment, step by step", ResultFiles.Read(Path.Combine(_folder.FullName, "result.json")).Title);
    }

    [Fact]
    public async Task A_stopped_trace_writes_the_results_so_far()
    {
        using var stop = new CancellationTokenSource();
        var before = await stack.CountEventsAsync("acct-0");
        // The load is longer than any test may run: only the cancellation ends it.
        var running = RunAsync(requests: 1_000_000, rate: 100, stop.Token, warmUp: 0);
        await Poll.UntilAsync(
            async () => await stack.CountEventsAsync("acct-0") > before, TestContext.Current.CancellationToken);
        await stop.CancelAsync();

        Assert.Equal(130, await running);
        Assert.NotEmpty(TraceFile.Read(Path.Combine(_folder.FullName, "trace.csv")));
        Assert.True(File.Exists(Path.Combine(_folder.FullName, "report.html")));
    }

    [Fact]
    public async Task A_trace_with_an_unreachable_store_fails_and_writes_the_results_so_far()
    {
        var nobody = new NpgsqlConnectionStringBuilder(stack.ConnectionString) { Port = 1 }.ConnectionString;

        var exit = await RunAsync(requests: 20, rate: 100, CancellationToken.None, store: nobody);

        Assert.Equal(1, exit);
        Assert.Equal(20, TraceFile.Read(Path.Combine(_folder.FullName, "trace.csv")).Count);
    }

    private Task<int> RunAsync(
        int requests, int rate, CancellationToken cancellationToken, int warmUp = 20, string? store = null)
    {
        var options = new TraceOptions
        {
            Subject = new MeasuredSystem(
                new StackOptions { Postgres = store ?? stack.ConnectionString },
                stack.Stack.ProxyAddresses, _folder.FullName, "./billing trace"),
            Requests = requests,
            Rate = rate,
            WarmUp = warmUp,
            Accounts = 5,
        };
        var console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(TextWriter.Null) });
        return new TraceRun(options, console, TimeProvider.System).RunAsync(cancellationToken);
    }
}
