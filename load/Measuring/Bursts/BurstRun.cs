using System.Globalization;
using Billing.Chaos;
using Billing.Client;
using Billing.Driver;
using Billing.Measuring.Loads;
using Billing.Reporting;
using Spectre.Console;

namespace Billing.Measuring.Bursts;

/// <summary>The billing prototype's experiment: every client sends all its requests at once and measures the latency of
/// each. Afterwards an audit compares the answers to the clients with the event store.</summary>
internal sealed class BurstRun(RunOptions options, IAnsiConsole console, TimeProvider time)
{
    private const int OtherCurrencyPercent = 1;
    private const int DeadlineS = 120;
    private static readonly TimeSpan ProgressInterval = TimeSpan.FromMilliseconds(100);

    /// <summary>Starts a stack, runs the experiment and removes the stack; or runs it on proxies
    /// that run already.</summary>
    /// <returns>The process's exit code: 0 only if every request was answered and the audit, where it could be made,
    /// is clean.</returns>
    public async Task<int> RunAsync(CancellationToken cancellationToken)
    {
        var run = new RunInfo(options.System.CommandLine, time.GetUtcNow(), Complete: true, Machine.This());
        return options.System.Targets.Count == 0
            ? await RunStackAsync(run, cancellationToken)
            : await RunTargetsAsync(run, cancellationToken);
    }

    private async Task<int> RunStackAsync(RunInfo run, CancellationToken cancellationToken)
    {
        var wanted = options.System.Stack;
        await using var stack = await Starting.StackAsync(wanted, console, cancellationToken);
        var backends = stack.Protocol is { } protocol
            ? $"{wanted.PaymentBackends} backends over {protocol}"
            : $"{wanted.PaymentBackends} payment backends, {wanted.BalanceBackends} balance backends";
        console.MarkupInterpolated($"Transport [bold]{stack.Transport}[/], {options.Clients} clients, ");
        console.WriteLine(
            $"{stack.ProxyAddresses.Count} proxies, {backends}, jitter {(wanted.Jitter ? "on" : "off")}.");
        var fleet = new Fleet(stack.Folder.FullName, "client");
        var figures = await SendAsync(fleet, stack.ProxyAddresses, setsLimits: true, cancellationToken);
        var result = Report(run, figures) with
        {
            Transport = stack.Transport,
            Protocol = stack.Protocol,
            Proxies = stack.ProxyAddresses.Count,
            Backends = new BackendCounts(
                wanted.PaymentBackends, stack.Protocol is null ? wanted.BalanceBackends : wanted.PaymentBackends),
            Jitter = wanted.Jitter,
        };
        Print(result, figures);
        return await ConcludeAsync(
            result with { Audit = await StoreAudit.AuditAsync(stack, [fleet], console, cancellationToken) });
    }

    private async Task<int> RunTargetsAsync(RunInfo run, CancellationToken cancellationToken)
    {
        var system = options.System;
        console.WriteLine(
            $"{Numbers.Counted(options.Clients, "client")} "
            + $"{(options.ClientHosts.Count == 0 ? "on this machine" : "on " + string.Join(", ", options.ClientHosts))}"
            + $", proxies {string.Join(", ", system.Targets)}.");
        var fleet = new Fleet(system.Out, "client") { Hosts = options.ClientHosts };
        var figures = await SendAsync(fleet, system.Targets, setsLimits: false, cancellationToken);
        var result = Report(run, figures) with { Transport = "targets", Proxies = system.Targets.Count };
        Print(result, figures);
        console.WriteLine($"Journals: {string.Join(", ", fleet.Journals)}");
        if (system.Stack.Postgres == "auto")
        {
            console.WriteLine(
                "Not audited: --postgres names the event store of the proxies; "
                + "or run ./billing audit with these journals.");
            return await ConcludeAsync(result);
        }
        return await ConcludeAsync(result with
        {
            Audit = await StoreAudit.AuditAsync(
                [system.Stack.Postgres], isOwn: false, [fleet], console, cancellationToken),
        });
    }

    private async Task<LoadFigures> SendAsync(
        Fleet fleet, IReadOnlyList<string> proxies, bool setsLimits, CancellationToken cancellationToken)
    {
        var spec = Spec(proxies);
        await using var clients = await fleet.StartAsync(spec, options.Clients, cancellationToken);
        // Limits are set during the warm-up; the measurement begins when both are done.
        await console.Status().StartAsync(
            setsLimits ? "Setting limits and warming up" : "Warming up",
            _ => Task.WhenAll(
                setsLimits ? SetLimitsAsync(spec, cancellationToken) : Task.CompletedTask,
                clients.WaitUntilReadyAsync(cancellationToken)));
        return await ShowingProgressAsync(clients, cancellationToken);
    }

    private async Task<int> ConcludeAsync(RunResult result)
    {
        if (options.Report is { } path)
        {
            await ResultFile.WriteAsync(console, RunResult.Format, result, path);
        }
        return ((IResults)result).IsGood ? 0 : 1;
    }

    private void Print(RunResult result, LoadFigures figures)
    {
        ConsoleReport.Print(console, RunResult.Format.Page(result));
        foreach (var (error, count) in figures.All.Errors)
        {
            console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"  {count} x {error}"));
        }
    }

    private LoadSpec Spec(IReadOnlyList<string> proxies) => new()
    {
        Addresses = proxies,
        Shape = new LoadShape.Burst(options.Requests, options.Balances),
        WarmUp = LoadShape.WarmUpOf(options.WarmUp),
        OtherCurrencyPercent = OtherCurrencyPercent,
        LifePercent = options.Mix,
        DeadlineS = DeadlineS,
        Seed = 0,
    };

    private static async Task SetLimitsAsync(LoadSpec spec, CancellationToken cancellationToken)
    {
        var connections = new BillingClientOptions { Deadline = TimeSpan.FromSeconds(spec.DeadlineS) };
        foreach (var proxy in spec.Addresses)
        {
            connections.Proxies.Add(proxy);
        }
        using var client = new BillingAdminClient(connections, TimeProvider.System);
        await LowLimits.SetAsync(client, spec.AccountPrefix, spec.Accounts, cancellationToken);
    }

    private Task<LoadFigures> ShowingProgressAsync(RunningLoad clients, CancellationToken cancellationToken) =>
        console.Progress()
            .Columns(
                new TaskDescriptionColumn(), new ProgressBarColumn(), new PercentageColumn(), new ElapsedTimeColumn())
            .StartAsync(async progress =>
            {
                var bar = progress.AddTask(
                    "Requests", maxValue: Math.Max(1, options.Clients * (options.Requests + options.Balances)));
                var running = clients.RunAsync([], CancellationToken.None).WaitAsync(cancellationToken);
                while (await Task.WhenAny(running, Task.Delay(ProgressInterval, cancellationToken)) != running)
                {
                    bar.Value = clients.Done;
                }
                var figures = await running;
                bar.Value = bar.MaxValue;
                return figures;
            });

    private RunResult Report(RunInfo run, LoadFigures figures)
    {
        var all = figures.Phases[0];
        return new RunResult
        {
            Run = run,
            Clients = options.Clients,
            Payments = KindReport.Of(all.Payments),
            Balances = KindReport.Of(all.Balances),
            FollowUps = all.FollowUps.Count == 0
                ? null
                : all.FollowUps.ToDictionary(kind => kind.Key, kind => KindReport.Of(kind.Value)),
            TotalS = figures.DurationS,
            RequestsPerS = figures.DurationS > 0 ? figures.All.Sent / figures.DurationS : 0,
            Retried = figures.Retried,
        };
    }
}
