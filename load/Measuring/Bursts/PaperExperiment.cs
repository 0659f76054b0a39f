using System.Globalization;
using Billing.Auditing;
using Billing.Chaos;
using Billing.Client;
using Billing.LoadClient;
using Billing.LocalStack;
using Billing.Reporting;
using Spectre.Console;

namespace Billing.Measuring.Bursts;

/// <summary>The billing prototype's experiment: every client sends all its requests at once and measures the latency of each.
/// Afterwards an audit compares the answers to the clients with the event store.</summary>
internal sealed class PaperExperiment(RunOptions options, IAnsiConsole console, TimeProvider time)
{
    private const int OtherCurrencyPercent = 1;
    private static readonly TimeSpan ProgressInterval = TimeSpan.FromMilliseconds(100);

    /// <summary>Starts a stack, runs the experiment and removes the stack.</summary>
    /// <returns>The process's exit code: 0 only if every request was answered and the audit is clean.</returns>
    public async Task<int> RunAsync(CancellationToken cancellationToken)
    {
        var startedAt = time.GetUtcNow();
        await using var stack = await Starting.StackAsync(options.Stack, console, cancellationToken);
        var backends = stack.Protocol is { } protocol
            ? $"{options.Stack.PaymentBackends} backends over {protocol}"
            : $"{options.Stack.PaymentBackends} payment backends, {options.Stack.BalanceBackends} balance backends";
        console.MarkupLineInterpolated($"Transport [bold]{stack.Transport}[/], {options.Clients} clients, {stack.ProxyAddresses.Count} proxies, {backends}, jitter {(options.Stack.Jitter ? "on" : "off")}.");
        await using var clients = ClientFleet.Start(Load(stack), options.Clients, stack.Folder);
        await WarmUpAsync(stack, clients, cancellationToken);
        var results = await SendingAsync(clients, cancellationToken);
        var audit = await new Auditor(stack.ConnectionString) { JournalsAreComplete = stack.Postgres is not null }
            .RunAsync(clients.Journals, cancellationToken);
        var differences = AnswerCount.Differences(
            audit, results.Sum(r => r.PaymentsAnswered), results.Sum(r => (long)r.Balances.Ok));
        var result = Report(stack, startedAt, results, AuditCounts.Of(audit, differences.Count));
        Print(result, results, audit, differences);
        if (options.Report is { } path)
        {
            await ResultFile.WriteAsync(console, RunResult.Format, result, path);
        }
        return ((IResults)result).IsGood ? 0 : 1;
    }

    private void Print(RunResult result, IReadOnlyCollection<LoadResult> results, AuditResult audit, IReadOnlyList<string> differences)
    {
        ConsoleReport.Print(console, RunResult.Format.Page(result));
        foreach (var error in results.SelectMany(r => r.Payments.Errors.Concat(r.Balances.Errors)).GroupBy(e => e.Key, e => e.Value))
        {
            console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"  {error.Sum()} x {error.Key}"));
        }
        AuditTable.Print(console, audit);
        foreach (var difference in differences)
        {
            console.WriteLine("  " + difference);
        }
    }

    private LoadOptions Load(BillingStack stack) => new()
    {
        Proxies = stack.ProxyAddresses,
        Requests = options.Requests,
        Balances = options.Balances,
        WarmUp = options.WarmUp,
        OtherCurrencyPercent = OtherCurrencyPercent,
    };

    // Limits are set during the warm-up; the measurement begins when both are done.
    private Task WarmUpAsync(BillingStack stack, ClientFleet clients, CancellationToken cancellationToken) => console.Status().StartAsync(
        "Setting limits and warming up",
        _ => Task.WhenAll(SetLimitsAsync(stack, cancellationToken), clients.WaitUntilReadyAsync(cancellationToken)));

    private static async Task SetLimitsAsync(BillingStack stack, CancellationToken cancellationToken)
    {
        var connections = new BillingClientOptions();
        foreach (var proxy in stack.ProxyAddresses)
        {
            connections.Proxies.Add(proxy);
        }
        using var client = new BillingClient(connections, TimeProvider.System);
        await LowLimits.SetAsync(client, RandomRequests.AccountPrefix, new LoadOptions { Proxies = [] }.Accounts, cancellationToken);
    }

    private Task<LoadResult[]> SendingAsync(ClientFleet clients, CancellationToken cancellationToken) =>
        console.Progress()
            .Columns(new TaskDescriptionColumn(), new ProgressBarColumn(), new PercentageColumn(), new ElapsedTimeColumn())
            .StartAsync(async progress =>
            {
                var bar = progress.AddTask("Requests", maxValue: Math.Max(1, options.Clients * (options.Requests + options.Balances)));
                var running = clients.RunAsync(cancellationToken);
                while (await Task.WhenAny(running, Task.Delay(ProgressInterval, cancellationToken)) != running)
                {
                    bar.Value = clients.Done;
                }
                var results = await running;
                bar.Value = bar.MaxValue;
                return results;
            });

    private RunResult Report(BillingStack stack, DateTimeOffset startedAt, LoadResult[] results, AuditCounts audit)
    {
        var payments = Summary.Of([.. results.Select(r => r.Payments)]);
        var balances = Summary.Of([.. results.Select(r => r.Balances)]);
        var total = Summary.SpanS(results);
        return new RunResult
        {
            Run = new RunInfo(options.CommandLine, startedAt, Complete: true, Machine.This()),
            Transport = stack.Transport,
            Protocol = stack.Protocol,
            Clients = options.Clients,
            Proxies = stack.ProxyAddresses.Count,
            Backends = new BackendCounts(
                options.Stack.PaymentBackends, stack.Protocol is null ? options.Stack.BalanceBackends : options.Stack.PaymentBackends),
            Jitter = options.Stack.Jitter,
            Payments = KindReport.Of(payments, Summary.SinceStart(results, r => r.Payments)),
            Balances = KindReport.Of(balances, Summary.SinceStart(results, r => r.Balances)),
            TotalS = total,
            RequestsPerS = total > 0 ? (payments.Count + balances.Count) / total : 0,
            Retried = results.Sum(r => r.Retried),
            Audit = audit,
        };
    }
}
