using System.Globalization;
using Billing.Auditing;
using Billing.LocalStack;
using Billing.Measuring.Driving;
using Spectre.Console;

namespace Billing.Measuring.Comparing.Overload;

/// <summary>Loads a platform below its capacity, then with a multiple of the capacity, then below it again, and at last with an
/// overload from one caller beside normal load from another. The simulated card network limits the capacity, so that the load
/// tool and the rejections have processor time left.</summary>
internal sealed class OverloadComparison(OverloadOptions options, Measurement measurement, IAnsiConsole console)
{
    private const int AtATime = 25;
    private const int CardMs = 50;
    private const double CapacityPerS = AtATime * 1000.0 / CardMs;
    private const double NormalPerS = CapacityPerS * 0.7;
    private const double ModestPerS = CapacityPerS * 0.1;
    private const int TargetMs = 100;
    private const int Connections = 4;

    // Long enough for a 99th percentile under normal load.
    private static readonly TimeSpan Normally = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan Recovery = TimeSpan.FromSeconds(5);

    private readonly List<OverloadPhase> _phases = [];
    private readonly List<AuditCounts> _audits = [];
    private IReadOnlyList<MemoryFigures> _memory = [];

    /// <summary>Measures, prints the figures and writes the results.</summary>
    /// <returns>0 if no request failed except by rejection and the audit is clean; 130 if it was stopped.</returns>
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
        await PhaseAsync("First 5 s after the overload", fleet, Spec(stack, NormalPerS, Recovery), cancellationToken);
        await PhaseAsync("Next 20 s", fleet, Spec(stack, NormalPerS, Normally), cancellationToken);
        var other = new DriveFleet(stack.Folder, "flood");
        await FloodAsync(stack, fleet, other, cancellationToken);
        _memory = memory.Figures();
        _audits.Add(await StoreAudit.AuditAsync(stack, [], fleet.Payments + other.Payments, console, cancellationToken));
    }

    // Proxies identify callers without tokens by their addresses.
    private async Task FloodAsync(BillingStack stack, DriveFleet fleet, DriveFleet other, CancellationToken cancellationToken)
    {
        var flood = other.RunAsync(
            Spec(stack, CapacityPerS * options.Times, Normally + Recovery) with { From = "127.0.0.2" }, 1, [], cancellationToken);
        await PhaseAsync($"A caller at {ModestPerS:0}/s beside another at {options.Times} times the capacity", fleet, Spec(stack, ModestPerS, Normally) with { From = "127.0.0.3" }, cancellationToken);
        Add("The overloading caller", CapacityPerS * options.Times, await flood);
    }

    private async Task PhaseAsync(string name, DriveFleet fleet, DriveSpec spec, CancellationToken cancellationToken) =>
        Add(name, spec.RatePerS, await fleet.RunAsync(spec, 1, [], cancellationToken));

    private void Add(string name, double rate, DriveFigures figures)
    {
        var refused = figures.Errors.GetValueOrDefault(nameof(Grpc.Core.StatusCode.ResourceExhausted));
        _phases.Add(new OverloadPhase(
            name, rate, figures.Ok, figures.PerSecond, refused, figures.Failed - refused, figures.Latency, figures.Refusals));
        Print($"{name}: answered {figures.PerSecond:N0}/s, p50 {figures.Latency.P50Ms:0} ms, p99 {figures.Latency.P99Ms:0} ms; rejected {refused:N0}, p50 {figures.Refusals.P50Ms:0.0} ms, p99 {figures.Refusals.P99Ms:0.0} ms; other errors {figures.Failed - refused}");
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

    private void Print(FormattableString text) => console.WriteLine(text.ToString(CultureInfo.InvariantCulture));

    private static string Time(double milliseconds) => TimeSpan.FromMilliseconds(milliseconds).ToString("c", CultureInfo.InvariantCulture);
}
