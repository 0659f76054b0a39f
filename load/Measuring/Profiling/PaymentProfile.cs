using System.Globalization;
using Billing.Auditing;
using Billing.Driver;
using Billing.LocalStack.Processes;
using Billing.Measuring.Loads;
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

    /// <summary>Returns the load: the callers are distributed over two connections to each proxy.</summary>
    public static LoadSpec Spec(ProfileOptions options, IReadOnlyList<string> addresses, int inFlight) => new()
    {
        Addresses = addresses,
        Protocol = LoadProtocol.Unary,
        Connections = Math.Min(inFlight, 2 * addresses.Count),
        TimedEvery = TimedEvery,
        WarmUp = new LoadShape.Closed(inFlight, options.WarmUp.TotalSeconds),
        Shape = new LoadShape.Closed(inFlight, options.During.TotalSeconds),
    };

    private ProfileResult Result(RunInfo run) => new()
    {
        Run = run,
        Proxies = options.Stack.Proxies,
        PaymentBackends = options.Stack.PaymentBackends,
        BalanceBackends = options.Stack.BalanceBackends,
        Databases = options.Stack.Databases,
        Partitions = options.Stack.Partitions > 0 ? options.Stack.Partitions : options.Stack.FewestPartitions,
        Missing = _missing,
        Cases = _cases,
        Audits = _audits,
    };

    private async Task MeasureAsync(CancellationToken cancellationToken)
    {
        await using var requests = new BrokerRequests();
        await using var stack = await Starting.StackAsync(
            options.Stack with
            {
                BrokerJavaOptions = requests.BrokerJavaOptions,
                PostgresSettings = StatementTimes.ServerSettings(),
                Settings = new Dictionary<string, string>([ClientWaits.Setting]),
            },
            console, cancellationToken);
        var statements = new StatementTimes(stack.Databases.Values);
        if (await statements.EnableAsync(cancellationToken) is { } missing)
        {
            _missing.Add(missing);
            console.WriteLine(missing);
        }
        using var watch = new PlatformMeter(stack, requests, statements);
        var fleet = new Fleet(stack.Folder.FullName);
        foreach (var inFlight in options.InFlight)
        {
            cancellationToken.ThrowIfCancellationRequested();
            await using var load = await fleet.StartAsync(Spec(options, stack.ProxyAddresses, inFlight), 1, cancellationToken);
            await load.WaitUntilReadyAsync(cancellationToken);
            await watch.BeginAsync(load.Programs, cancellationToken);
            var figures = await load.RunAsync([], cancellationToken);
            await watch.EndAsync();
            if (figures.All.Answered == 0)
            {
                throw new StackException(string.Create(CultureInfo.InvariantCulture, $"With {inFlight} in flight no payment was answered; {figures.All.Failed} failed."));
            }
            Keep(inFlight, figures, watch);
        }
        _audits.Add(await StoreAudit.AuditAsync(stack, [fleet], console, cancellationToken));
    }

    private void Keep(int inFlight, LoadFigures figures, PlatformMeter watch)
    {
        var payments = (double)figures.All.Answered;
        _cases.Add(new ProfileCase
        {
            InFlight = inFlight,
            DurationS = figures.DurationS,
            Payments = figures.All.Answered,
            Failed = figures.All.Failed,
            PerSecond = figures.PerSecond,
            P50Ms = figures.All.Latency.P50Ms,
            P99Ms = figures.All.Latency.P99Ms,
            Steps = [.. LegSummary.Of([.. figures.Timed.Select(Traced)])],
            Programs = [.. watch.Programs.Select(program => program.Per(payments))],
            Database = watch.Database.Per(payments),
            Broker = watch.Broker.Per(payments),
            Clients = watch.Clients,
        });
        console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"{inFlight} in flight: {figures.PerSecond:N0}/s, p50 {figures.All.Latency.P50Ms:0.0} ms, p99 {figures.All.Latency.P99Ms:0.0} ms, failed {figures.All.Failed}"));
    }

    private static TracedPayment Traced(Contracts.StepTimes times)
    {
        // The version marks the payment as answered; its value is not used.
        var payment = new TracedPayment(Guid.Empty, "", 1, "");
        payment.SetTimes(times);
        return payment;
    }
}
