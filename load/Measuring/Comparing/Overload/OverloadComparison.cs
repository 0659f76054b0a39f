using System.Globalization;
using Billing.Auditing;
using Billing.LocalStack;
using Billing.Measuring.Driving;
using Spectre.Console;

namespace Billing.Measuring.Comparing.Overload;

/// <summary>A platform whose capacity the simulated card network bounds, so that the load tool and the refusals have processor
/// left, is offered what it can do, many times that, what it can do again, and last a flood from one caller beside the calls of
/// another.</summary>
internal sealed class OverloadComparison(OverloadOptions options, Measurement measurement, IAnsiConsole console)
{
    private const int AtATime = 25;
    private const int CardMs = 50;
    private const double CapacityPerS = AtATime * 1000.0 / CardMs;
    private const double NormalPerS = CapacityPerS * 0.7;
    private const double ModestPerS = CapacityPerS * 0.1;
    private const int TargetMs = 100;
    private const int Connections = 4;

    // Long enough for a 99th percentile of what is offered normally.
    private static readonly TimeSpan Normally = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan Recovery = TimeSpan.FromSeconds(5);

    private readonly List<OverloadPhase> _phases = [];
    private readonly List<AuditCounts> _audits = [];
    private IReadOnlyList<MemoryFigures> _memory = [];

    /// <summary>Measures, prints and writes.</summary>
    /// <returns>0 when nothing failed but by being refused, and the books are clean; 130 when it was stopped.</returns>
    public Task<int> RunAsync(CancellationToken cancellationToken) =>
        measurement.RunAsync(OverloadResult.Format, MeasureAsync, Result, cancellationToken);

    private OverloadResult Result(RunInfo run) => new()
    {
        Run = run,
        CapacityPerS = CapacityPerS,
        TargetMs = TargetMs,
        Phases = _phases,
        Memory = _memory,
        Audits = _audits,
    };

    private async Task MeasureAsync(CancellationToken cancellationToken)
    {
        await using var stack = await Starting.StackAsync(Stack(), console, cancellationToken);
        var fleet = new DriveFleet(stack.Folder);
        await PhaseAsync("Normal", fleet, Spec(stack, NormalPerS, Normally) with { WarmUpS = 5 }, cancellationToken);
        await using var memory = new MemoryWatch([.. stack.Services.Select(s => (s.Process.Name, s.Process.Id))], TimeProvider.System);
        await PhaseAsync($"{options.Times} times the capacity", fleet, Spec(stack, CapacityPerS * options.Times, options.During), cancellationToken);
        await PhaseAsync("The first 5 s after it", fleet, Spec(stack, NormalPerS, Recovery), cancellationToken);
        await PhaseAsync("The 20 s after those", fleet, Spec(stack, NormalPerS, Normally), cancellationToken);
        await FloodAsync(stack, fleet, cancellationToken);
        _memory = memory.Figures();
        _audits.Add(await Books.AuditAsync(stack, [], fleet.PaymentsAnswered, console, cancellationToken));
    }

    // Proxies tell callers without tokens apart by their addresses.
    private async Task FloodAsync(BillingStack stack, DriveFleet fleet, CancellationToken cancellationToken)
    {
        var other = new DriveFleet(stack.Folder, "flood");
        var flood = other.RunAsync(
            Spec(stack, CapacityPerS * options.Times, Normally + Recovery) with { From = "127.0.0.2" }, 1, [], cancellationToken);
        await PhaseAsync($"A modest caller beside a flood of {options.Times} times the capacity", fleet, Spec(stack, ModestPerS, Normally) with { From = "127.0.0.3" }, cancellationToken);
        Add("That flood's caller", CapacityPerS * options.Times, await flood);
    }

    private async Task PhaseAsync(string name, DriveFleet fleet, DriveSpec spec, CancellationToken cancellationToken) =>
        Add(name, spec.RatePerS, await fleet.RunAsync(spec, 1, [], cancellationToken));

    private void Add(string name, double rate, DriveFigures figures)
    {
        var refused = figures.Errors.GetValueOrDefault(nameof(Grpc.Core.StatusCode.ResourceExhausted));
        _phases.Add(new OverloadPhase(
            name, rate, figures.Ok, figures.PerSecond, refused, figures.Failed - refused, figures.Latency, figures.Refusals));
        Say($"{name}: answered {figures.PerSecond:N0}/s, p50 {figures.Latency.P50Ms:0} ms, p99 {figures.Latency.P99Ms:0} ms; refused {refused:N0}, p50 {figures.Refusals.P50Ms:0.0} ms, p99 {figures.Refusals.P99Ms:0.0} ms; other errors {figures.Failed - refused}");
    }

    private static StackOptions Stack() => new()
    {
        Proxies = 1,
        PaymentBackends = 1,
        BalanceBackends = 1,
        Jitter = true,
        Settings = new Dictionary<string, string>(StringComparer.Ordinal)
        {
            ["Billing__Proxy__LatencyTarget"] = Time(TargetMs),
            ["Billing__Jitter__ConcurrencyMax"] = AtATime.ToString(CultureInfo.InvariantCulture),
            ["Billing__Jitter__PaymentMin"] = Time(CardMs * 0.5),
            ["Billing__Jitter__PaymentMax"] = Time(CardMs * 1.5),
        },
    };

    private static DriveSpec Spec(BillingStack stack, double rate, TimeSpan during) => new()
    {
        Addresses = stack.ProxyAddresses,
        Connections = Connections,
        RatePerS = rate,
        DurationS = during.TotalSeconds,
    };

    private void Say(FormattableString text) => console.WriteLine(text.ToString(CultureInfo.InvariantCulture));

    private static string Time(double milliseconds) => TimeSpan.FromMilliseconds(milliseconds).ToString("c", CultureInfo.InvariantCulture);
}
