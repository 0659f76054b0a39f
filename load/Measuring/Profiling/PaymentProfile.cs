using System.Globalization;
using Billing.Auditing;
using Billing.LocalStack.Processes;
using Billing.Measuring.Driving;
using Billing.Measuring.Tracing;
using Spectre.Console;

namespace Billing.Measuring.Profiling;

/// <summary>Measures the latency per step, the processor time, the requests and the allocations of one payment.</summary>
internal sealed class PaymentProfile(ProfileOptions options, Measurement measurement, IAnsiConsole console)
{
    // Rare enough that the cost of timing does not affect the other payments.
    private const int TimedEvery = 16;

    private readonly List<ProfileCase> _cases = [];
    private readonly List<AuditCounts> _audits = [];
    private readonly List<string> _missing = [];

    /// <summary>Measures, then prints and writes the results.</summary>
    /// <returns>0 if no payment failed and the audit is clean; 130 if it was interrupted.</returns>
    /// <exception cref="StackException">The system is not Linux, or there is no Kafka.</exception>
    public Task<int> RunAsync(CancellationToken cancellationToken) => OperatingSystem.IsLinux()
        ? measurement.RunAsync(ProfileResult.Format, MeasureAsync, Result, cancellationToken)
        : throw new StackException("profile reads processor times and memory from /proc, which exists on Linux only.");

    /// <summary>Returns the load: the callers are distributed over two connections to each proxy, as evenly as possible.
    /// </summary>
    public static DriveSpec Spec(ProfileOptions options, IReadOnlyList<string> addresses, int inFlight)
    {
        var connections = Math.Min(inFlight, 2 * addresses.Count);
        return new DriveSpec
        {
            Addresses = addresses,
            Connections = connections,
            InFlight = inFlight / connections,
            WithOneMore = inFlight % connections,
            TimedEvery = TimedEvery,
            WarmUpS = options.WarmUp.TotalSeconds,
            DurationS = options.During.TotalSeconds,
        };
    }

    private ProfileResult Result(RunInfo run) => new()
    {
        Run = run,
        Proxies = options.Stack.Proxies,
        PaymentBackends = options.Stack.PaymentBackends,
        BalanceBackends = options.Stack.BalanceBackends,
        Partitions = options.Stack.Partitions > 0 ? options.Stack.Partitions : options.Stack.FewestPartitions,
        Missing = _missing,
        Cases = _cases,
        Audits = _audits,
    };

    private async Task MeasureAsync(CancellationToken cancellationToken)
    {
        await using var requests = new BrokerRequests();
        await using var stack = await Starting.StackAsync(
            options.Stack with { BrokerJavaOptions = requests.BrokerJavaOptions, PostgresSettings = StatementTimes.ServerSettings() }, console, cancellationToken);
        var statements = new StatementTimes(stack.ConnectionString);
        if (await statements.EnableAsync(cancellationToken) is { } missing)
        {
            _missing.Add(missing);
            console.WriteLine(missing);
        }
        using var watch = new PlatformMeter(stack, requests, statements);
        var fleet = new DriveFleet(stack.Folder, "profile");
        foreach (var inFlight in options.InFlight)
        {
            cancellationToken.ThrowIfCancellationRequested();
            var figures = await fleet.RunAsync(Spec(options, stack.ProxyAddresses, inFlight), 1, [], cancellationToken, watch);
            if (figures.Ok == 0)
            {
                throw new StackException(string.Create(CultureInfo.InvariantCulture, $"With {inFlight} in flight no payment was answered; {figures.Failed} failed."));
            }
            Keep(inFlight, figures, watch);
        }
        _audits.Add(await StoreAudit.AuditAsync(stack, [], fleet.Payments, console, cancellationToken));
    }

    private void Keep(int inFlight, DriveFigures figures, PlatformMeter watch)
    {
        var payments = (double)figures.Ok;
        _cases.Add(new ProfileCase
        {
            InFlight = inFlight,
            DurationS = figures.DurationS,
            Payments = figures.Ok,
            Failed = figures.Failed,
            PerSecond = figures.PerSecond,
            P50Ms = figures.Latency.P50Ms,
            P99Ms = figures.Latency.P99Ms,
            Steps = [.. LegSummary.Of([.. figures.Timed.Select(Traced)])],
            Programs = [.. figures.Workers.Concat(watch.Programs).Select(program => program.Per(payments))],
            Database = watch.Database.Per(payments),
            Broker = watch.Broker.Per(payments),
        });
        console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"{inFlight} in flight: {figures.PerSecond:N0}/s, p50 {figures.Latency.P50Ms:0.0} ms, p99 {figures.Latency.P99Ms:0.0} ms, failed {figures.Failed}"));
    }

    private static TracedPayment Traced(Contracts.StepTimes times)
    {
        // The version marks the payment as answered; its value is not used.
        var payment = new TracedPayment(Guid.Empty, "", 1, "");
        payment.SetTimes(times);
        return payment;
    }
}
