using System.Globalization;
using Billing.Auditing;
using Billing.LocalStack;
using Billing.LocalStack.Processes;
using Billing.Measuring.Comparing;
using Billing.Measuring.Driving;
using Spectre.Console;

namespace Billing.Measuring.Sweeping;

/// <summary>HIVE's two modes, after the ICE lab's load tool: static, one number of connections and of requests in flight on
/// each; dynamic, all of them up to a bound, until more load brings nothing.</summary>
internal sealed class Sweep(SweepOptions options, IAnsiConsole console, TimeProvider time)
{
    // The best place is the greatest of many figures of a machine that is now faster, now slower: so those that come first are
    // measured again, in turn, before one is named.
    private const int Finalists = 2;
    private const int FinalRounds = 3;

    private readonly List<ProtocolSweep> _protocols = [];
    private readonly List<AuditCounts> _audits = [];

    /// <summary>Measures, prints and writes.</summary>
    /// <returns>0; 1 where nothing was answered or the books are not clean; 130 when it was stopped, with what there is by then written.</returns>
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
            _audits.Add(await Books.AuditAsync(stack, [], fleet.PaymentsAnswered, console, cancellationToken));
        }
    }

    private async Task MeasureAsync(
        DriveFleet fleet, Func<DriveProtocol, IReadOnlyList<string>> addresses,
        IReadOnlyCollection<(string Name, int ProcessId)> programs, CancellationToken cancellationToken)
    {
        foreach (var protocol in options.Protocols)
        {
            var (cells, finals) = (new List<SweepCell>(), new List<FinalPlace>());
            var sweep = new ProtocolSweep(protocol, cells, options.LatencyBoundMs) { Finals = finals };
            _protocols.Add(sweep);
            await SweepAsync(async point =>
            {
                var cell = await MeasureAsync(point);
                cells.Add(cell);
                cancellationToken.ThrowIfCancellationRequested();
                // More answers beside failures are not more load that is served.
                return cell.HasFailures ? 0 : cell.PerSecond;
            });
            if (options.IsDynamic)
            {
                await MeasureAgainAsync(sweep.Candidates(Finalists), finals, MeasureAsync, cancellationToken);
            }

            async Task<SweepCell> MeasureAsync(SweepPoint point)
            {
                var cell = SweepCell.Of(point, await fleet.RunAsync(Spec(protocol, addresses(protocol), point), options.Workers, programs, cancellationToken));
                Say(protocol, cell);
                return cell;
            }
        }
    }

    private static async Task MeasureAgainAsync(
        IReadOnlyList<SweepPoint> places, List<FinalPlace> finals, Func<SweepPoint, Task<SweepCell>> measure, CancellationToken cancellationToken)
    {
        var rounds = places.ToDictionary(place => place, _ => new List<SweepCell>());
        finals.AddRange(places.Select(place => new FinalPlace(place.Connections, place.InFlight, rounds[place])));
        await Repeats.RunAsync(places, FinalRounds, (place, _) => measure(place), (place, cell) => rounds[place].Add(cell), cancellationToken);
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

    private void Say(DriveProtocol protocol, SweepCell cell) => console.WriteLine(string.Create(CultureInfo.InvariantCulture,
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
