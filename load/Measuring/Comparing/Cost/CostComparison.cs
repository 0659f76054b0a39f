using System.Globalization;
using Billing.Auditing;
using Billing.LocalStack;
using Billing.Measuring.Driving;
using Billing.Measuring.Processes;
using Spectre.Console;

namespace Billing.Measuring.Comparing.Cost;

/// <summary>Compares the platform without and with TLS and tokens, and without and with telemetry; each side has its own stack.
/// </summary>
internal sealed class CostComparison(CostOptions options, Measurement measurement, IAnsiConsole console)
{
    private const int Connections = 4;
    private const int WarmUpS = 3;

    private static readonly IReadOnlyList<Side> Sides =
    [
        new("No security, no telemetry", IsSecured: false, IsWatched: false),
        new("Metrics, logs, and traces of 1 %", IsSecured: false, IsWatched: true),
        new("TLS and tokens everywhere", IsSecured: true, IsWatched: false),
        new("Both", IsSecured: true, IsWatched: true),
    ];

    private readonly Dictionary<Side, List<CostRound>> _rounds = Sides.ToDictionary(side => side, _ => new List<CostRound>());
    private readonly List<AuditCounts> _audits = [];

    /// <summary>Measures, prints the figures and writes the results.</summary>
    /// <returns>0 if no request failed and the audits are clean; 130 if it was stopped.</returns>
    public Task<int> RunAsync(CancellationToken cancellationToken) =>
        measurement.RunAsync(CostResult.Format, MeasureAsync, Result, cancellationToken);

    private CostResult Result(RunInfo run) => new()
    {
        Run = run,
        InFlight = options.InFlight,
        Rounds = options.Rounds,
        Sides = [.. Sides.Select(side => new CostSide(side.Name, _rounds[side]))],
        Audits = _audits,
    };

    private async Task MeasureAsync(CancellationToken cancellationToken)
    {
        await using var sink = await TelemetrySink.StartAsync();
        var stacks = new Dictionary<Side, BillingStack>();
        try
        {
            foreach (var side in Sides)
            {
                stacks[side] = await Starting.StackAsync(Stack(side, sink.Address), console, cancellationToken);
            }
            var fleets = stacks.ToDictionary(s => s.Key, s => new DriveFleet(s.Value.Folder));
            await Repeats.RunAsync(
                Sides, options.Rounds, (side, _) => fleets[side].RunAsync(Spec(stacks[side]), 1, Programs.Of(stacks[side]), cancellationToken), Keep, cancellationToken);
            foreach (var (side, stack) in stacks)
            {
                _audits.Add(await StoreAudit.AuditAsync(stack, [], fleets[side].Payments, console, cancellationToken));
            }
        }
        finally
        {
            foreach (var stack in stacks.Values)
            {
                await stack.DisposeAsync();
            }
        }
    }

    private void Keep(Side side, DriveFigures figures)
    {
        _rounds[side].Add(new CostRound(
            figures.PerSecond, figures.Latency.P50Ms, figures.Latency.P99Ms, figures.Failed,
            figures.CpuS.ToDictionary(c => c.Key, c => figures.Ok == 0 ? 0 : c.Value * 1e6 / figures.Ok)));
        console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"{side.Name}: {figures.PerSecond:N0}/s, p50 {figures.Latency.P50Ms:0} ms, p99 {figures.Latency.P99Ms:0} ms, failed {figures.Failed}"));
    }

    private DriveSpec Spec(BillingStack stack) => new()
    {
        Addresses = stack.ProxyAddresses,
        Connections = Connections,
        InFlight = options.InFlight / Connections,
        WarmUpS = WarmUpS,
        DurationS = options.During.TotalSeconds,
        CaFile = stack.Credentials?.CaFile ?? "",
        Token = stack.Credentials?.Token("load", [Billing.Proxy.Security.Scopes.PaymentsWrite], ["*"], TimeSpan.FromHours(24), TimeProvider.System) ?? "",
    };

    private static StackOptions Stack(Side side, string collector) => new()
    {
        Proxies = 1,
        PaymentBackends = 1,
        BalanceBackends = 1,
        Secured = side.IsSecured,
        Settings = new Dictionary<string, string>(StringComparer.Ordinal)
        {
            ["Billing__Telemetry__Prometheus"] = side.IsWatched ? "true" : "false",
            ["Billing__Telemetry__OtlpEndpoint"] = side.IsWatched ? collector : "",
            ["Billing__Telemetry__OtlpProtocol"] = "http/protobuf",
            ["Billing__Telemetry__TraceRatio"] = "0.01",
        },
    };

    private sealed record Side(string Name, bool IsSecured, bool IsWatched);
}
