using System.Globalization;
using Billing.Auditing;
using Billing.LocalStack;
using Billing.LocalStack.Processes;
using Billing.Measuring.Comparing;
using Billing.Measuring.Driving;
using Billing.Measuring.Processes;
using Spectre.Console;

namespace Billing.Measuring.Sweeping;

/// <summary>Measures in the two modes of HIVE, the ICE lab's load tool: static, with one number of connections and of requests in
/// flight on each; dynamic, with growing numbers up to a bound, until more load no longer increases the throughput.</summary>
internal sealed class Sweep(SweepOptions options, IAnsiConsole console, TimeProvider time)
{
    // The highest of many figures may be a lucky one, as the speed of the machine varies. So the best configurations are measured
    // again, alternating, before one of them is reported.
    private const int Finalists = 2;
    private const int FinalRounds = 3;

    private readonly List<ProtocolSweep> _protocols = [];
    private readonly List<AuditCounts> _audits = [];

    /// <summary>Measures, prints the figures and writes the results, also those of a sweep that was stopped.</summary>
    /// <returns>0; 1 if nothing was answered or the audit is not clean; 130 if it was stopped.</returns>
    public Task<int> RunAsync(CancellationToken cancellationToken) =>
        Measurement.Of(options.Subject, console, time).RunAsync(SweepResult.Format, MeasureAsync, Result, cancellationToken);

    private async Task MeasureAsync(CancellationToken cancellationToken)
    {
        if (options.Subject.Targets.Count > 0)
        {
            await using var folder = StackFolder.Create();
            await MeasureAsync(new DriveFleet(folder), _ => options.Subject.Targets, [], cancellationToken);
        }
        else
        {
            await using var stack = await Starting.StackAsync(options.Subject.Stack, console, cancellationToken);
            var fleet = new DriveFleet(stack.Folder);
            await MeasureAsync(fleet, protocol => Addresses(stack, protocol), Programs.Of(stack), cancellationToken);
            _audits.Add(await StoreAudit.AuditAsync(stack, [], fleet.Payments, console, cancellationToken));
        }
    }

    private async Task MeasureAsync(
        DriveFleet fleet, Func<DriveProtocol, IReadOnlyList<string>> addresses,
        IReadOnlyCollection<(string Name, int ProcessId)> programs, CancellationToken cancellationToken)
    {
        foreach (var protocol in options.Protocols)
        {
            var (cells, finals) = (new List<SweepMeasurement>(), new List<RepeatedConfiguration>());
            var sweep = new ProtocolSweep(protocol, cells, options.LatencyBoundMs) { Finals = finals };
            _protocols.Add(sweep);
            await SweepAsync(async point =>
            {
                var cell = await MeasureAsync(point);
                cells.Add(cell);
                cancellationToken.ThrowIfCancellationRequested();
                // A higher throughput with failed requests is no gain.
                return cell.HasFailures ? 0 : cell.PerSecond;
            });
            if (options.IsDynamic)
            {
                await MeasureAgainAsync(sweep.Candidates(Finalists), finals, MeasureAsync, cancellationToken);
            }

            async Task<SweepMeasurement> MeasureAsync(SweepPoint point)
            {
                var cell = SweepMeasurement.Of(point, await fleet.RunAsync(Spec(protocol, addresses(protocol), point), options.Workers, programs, cancellationToken));
                Print(protocol, cell);
                return cell;
            }
        }
    }

    private static async Task MeasureAgainAsync(
        IReadOnlyList<SweepPoint> points, List<RepeatedConfiguration> finals, Func<SweepPoint, Task<SweepMeasurement>> measure, CancellationToken cancellationToken)
    {
        var rounds = points.ToDictionary(point => point, _ => new List<SweepMeasurement>());
        finals.AddRange(points.Select(point => new RepeatedConfiguration(point.Connections, point.InFlight, rounds[point])));
        await Repeats.RunAsync(points, FinalRounds, (point, _) => measure(point), (point, cell) => rounds[point].Add(cell), cancellationToken);
    }

    private Task SweepAsync(Func<SweepPoint, Task<double>> measure) => options.IsDynamic
        ? DynamicSearch.RunAsync(options.Connections, options.InFlight, measure)
        : measure(new SweepPoint(options.Connections, options.InFlight));

    private static IReadOnlyList<string> Addresses(BillingStack stack, DriveProtocol protocol) =>
        protocol == DriveProtocol.Rest ? stack.RestAddresses : stack.ProxyAddresses;

    private DriveSpec Spec(DriveProtocol protocol, IReadOnlyList<string> addresses, SweepPoint point) => new()
    {
        Protocol = protocol,
        Addresses = addresses,
        Connections = point.Connections,
        InFlight = point.InFlight,
        Amount = options.Amount,
        DurationS = options.During.TotalSeconds,
        WarmUpS = options.WarmUp.TotalSeconds,
        BalancePercent = protocol == DriveProtocol.Stream ? 0 : options.BalancePercent,
    };

    private void Print(DriveProtocol protocol, SweepMeasurement cell) => console.WriteLine(string.Create(CultureInfo.InvariantCulture,
        $"{protocol}, {cell.Connections} connections x {cell.InFlight} in flight: {cell.PerSecond:N0}/s, p50 {cell.Latency.P50Ms:0.0} ms, p99 {cell.Latency.P99Ms:0.0} ms, failed {cell.Errors.Values.Sum()}"));

    private SweepResult Result(RunInfo run) => new()
    {
        Run = run,
        Mode = options.IsDynamic ? "dynamic" : "static",
        Requests = options.BalancePercent == 0 ? SweepResult.PaymentsAlone : $"payments, {options.BalancePercent} % balance checks",
        Workers = options.Workers,
        LatencyBoundMs = options.LatencyBoundMs,
        Protocols = _protocols,
        Audits = _audits,
    };
}
