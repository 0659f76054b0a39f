using System.Globalization;
using Billing.Auditing;
using Billing.LocalStack;
using Billing.Measuring.Driving;
using Billing.Measuring.Processes;
using Billing.Reporting;
using Spectre.Console;

namespace Billing.Measuring.Comparing.Scale;

/// <summary>Repeats the experiments of the event-sourcing thesis: throughput and latency of writes and of reads against the
/// number of backends. As the cores of one machine do not grow with them, it also measures the cost of each stage.</summary>
internal sealed class ScaleComparison(ScaleOptions options, Measurement measurement, IAnsiConsole console)
{
    private const int WarmUpS = 2;
    private const int Connections = 4;
    private const int CostInFlight = 400;
    private const int CostRoundsMax = 3;

    // One for each member of the largest consumer group that is measured by default.
    private const int PartitionsOfATopic = 12;

    private readonly List<ScaleSeries> _series = [];
    private readonly Dictionary<ScaleKind, List<StageSample>> _costs = Enum.GetValues<ScaleKind>().ToDictionary(kind => kind, _ => new List<StageSample>());
    private readonly List<AuditCounts> _audits = [];

    /// <summary>Measures, prints the figures and writes the results.</summary>
    /// <returns>0 if no request failed and the audits are clean; 130 if it was stopped.</returns>
    public Task<int> RunAsync(CancellationToken cancellationToken) =>
        measurement.RunAsync(ScaleResult.Format, MeasureAsync, Result, cancellationToken);

    private ScaleResult Result(RunInfo run) => new()
    {
        Run = run,
        Rounds = options.Rounds,
        Work = options.Work,
        Series = _series,
        Costs = [.. _costs.Where(c => c.Value.Count > 0).Select(c => StageCosts.Of(c.Key, c.Value))],
        Audits = _audits,
    };

    private async Task MeasureAsync(CancellationToken cancellationToken)
    {
        await MeasureCostsAsync(cancellationToken);
        await MeasureAsync(ScaleKind.Writes, options.Backends, cancellationToken);
        await MeasureAsync(ScaleKind.Reads, options.Replicas, cancellationToken);
    }

    private async Task MeasureCostsAsync(CancellationToken cancellationToken)
    {
        await using var stack = await Starting.StackAsync(
            new StackOptions { Proxies = 1, PaymentBackends = 1, BalanceBackends = 1 }, console, cancellationToken);
        var fleet = new DriveFleet(stack.Folder);
        await Repeats.RunAsync(
            Enum.GetValues<ScaleKind>(), Math.Min(options.Rounds, CostRoundsMax),
            (kind, _) => fleet.RunAsync(
                Spec(stack, kind) with { InFlight = CostInFlight / Connections, WarmUpS = 2 * WarmUpS }, 1, Programs.Of(stack), cancellationToken),
            (kind, figures) =>
            {
                _costs[kind].Add(new StageSample(
                    figures.PerSecond, figures.Failed, figures.CpuS.ToDictionary(c => c.Key, c => figures.Ok == 0 ? 0 : c.Value * 1e6 / figures.Ok)));
                Print($"Cost of {kind.ToString().ToLowerInvariant()}, measured at {figures.PerSecond:N0}/s");
            },
            cancellationToken);
        _audits.Add(await StoreAudit.AuditAsync(stack, [], fleet.Payments, console, cancellationToken));
    }

    private async Task MeasureAsync(ScaleKind kind, IReadOnlyList<int> steps, CancellationToken cancellationToken)
    {
        var role = kind == ScaleKind.Writes ? ServiceRole.PaymentBackend : ServiceRole.BalanceBackend;
        var rounds = steps.ToDictionary(step => step, _ => new List<ScaleRound>());
        _series.Add(new ScaleSeries(kind, [.. steps.Select(step => new ScaleStep(step, rounds[step]))]));
        await using var stack = await Starting.StackAsync(Stack(kind, steps[0]), console, cancellationToken);
        var fleet = new DriveFleet(stack.Folder);
        await Repeats.RunAsync(
            steps, options.Rounds,
            async (backends, _) =>
            {
                await ResizeAsync(stack, role, backends, cancellationToken);
                return await fleet.RunAsync(Spec(stack, kind), 1, [], cancellationToken);
            },
            (backends, figures) =>
            {
                rounds[backends].Add(new ScaleRound(figures.PerSecond, figures.Latency.P50Ms, figures.Latency.P99Ms, figures.Failed));
                Print($"{kind}, {Numbers.Counted(backends, "backend")}: {figures.PerSecond:N0}/s, p50 {figures.Latency.P50Ms:0} ms, p99 {figures.Latency.P99Ms:0} ms, failed {figures.Failed}");
            },
            cancellationToken);
        _audits.Add(await StoreAudit.AuditAsync(stack, [], fleet.Payments, console, cancellationToken));
    }

    private static async Task ResizeAsync(BillingStack stack, ServiceRole role, int wanted, CancellationToken cancellationToken)
    {
        foreach (var surplus in stack.Of(role).Where(s => s.Number > wanted).ToList())
        {
            await stack.RemoveAsync(surplus);
        }
        await Task.WhenAll(Enumerable.Range(1, wanted).Except(stack.Of(role).Select(s => s.Number))
            .Select(number => stack.AddAsync(role, number, cancellationToken)));
    }

    private StackOptions Stack(ScaleKind kind, int backends) => new()
    {
        Proxies = 1,
        PaymentBackends = kind == ScaleKind.Writes ? backends : 1,
        BalanceBackends = kind == ScaleKind.Reads ? backends : 1,
        Partitions = PartitionsOfATopic,
        Jitter = true,
        Settings = new Dictionary<string, string>(StringComparer.Ordinal)
        {
            ["Billing__Jitter__ConcurrencyMax"] = Text(kind == ScaleKind.Writes ? options.Work.PaymentsAtATime : options.Work.BalancesAtATime),
            ["Billing__Jitter__PaymentMin"] = Time(options.Work.PaymentMs * 0.5),
            ["Billing__Jitter__PaymentMax"] = Time(options.Work.PaymentMs * 1.5),
            ["Billing__Jitter__BalanceMin"] = Time(options.Work.BalanceMs * 0.5),
            ["Billing__Jitter__BalanceMax"] = Time(options.Work.BalanceMs * 1.5),
        },
    };

    private DriveSpec Spec(BillingStack stack, ScaleKind kind) => new()
    {
        Addresses = stack.ProxyAddresses,
        Connections = Connections,
        InFlight = options.Work.InFlight / Connections,
        DurationS = options.During.TotalSeconds,
        WarmUpS = WarmUpS,
        BalancePercent = kind == ScaleKind.Reads ? 100 : 0,
    };

    private void Print(FormattableString text) => console.WriteLine(text.ToString(CultureInfo.InvariantCulture));

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    private static string Time(double milliseconds) => TimeSpan.FromMilliseconds(milliseconds).ToString("c", CultureInfo.InvariantCulture);
}
