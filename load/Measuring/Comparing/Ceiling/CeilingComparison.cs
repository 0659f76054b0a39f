using System.Globalization;
using Billing.Auditing;
using Billing.LoadClient;
using Billing.LocalStack.Processes;
using Billing.Measuring.Bursts;
using Billing.Measuring.Driving;
using Spectre.Console;

namespace Billing.Measuring.Comparing.Ceiling;

/// <summary>Measures the cost of the platform beyond that of the calls: compares its whole path with a plain gRPC echo under the
/// same load from the same clients.</summary>
internal sealed class CeilingComparison(CeilingOptions options, Measurement measurement, IAnsiConsole console)
{
    private const string WholePath = "whole path";
    private const int Clients = 3;
    private const int WarmUp = 1000;

    private readonly List<CeilingCase> _cases = [];
    private readonly List<AuditCounts> _audits = [];

    /// <summary>Measures, prints the figures and writes the results.</summary>
    /// <returns>0 if no request failed and the audit of the whole path is clean; 130 if it was stopped.</returns>
    public Task<int> RunAsync(CancellationToken cancellationToken) =>
        measurement.RunAsync(CeilingResult.Format, MeasureAsync, Result, cancellationToken);

    private CeilingResult Result(RunInfo run) => new()
    {
        Run = run,
        Proxies = options.Stack.Proxies,
        Rounds = options.Rounds,
        Audits = _audits,
        Cases = [.. _cases.Where(c => c.Full.Rounds.Count > 0 && c.Echo.Rounds.Count > 0)],
    };

    private async Task MeasureAsync(CancellationToken cancellationToken)
    {
        await using var stack = await Starting.StackAsync(options.Stack, console, cancellationToken);
        await using var echoes = await EchoProxies.StartAsync(options.Stack.Proxies, stack.Folder, cancellationToken);
        IReadOnlyList<(string Name, IReadOnlyList<string> Addresses)> sides = [(WholePath, stack.ProxyAddresses), ("echo", echoes.Addresses)];
        var fleet = new DriveFleet(stack.Folder);
        var journals = new List<string>();
        var sent = new SentPayments();
        foreach (var inFlight in options.InFlight)
        {
            await RunCaseAsync($"{inFlight} in flight", sides, async (side, _) =>
            {
                var connections = Math.Min(inFlight, options.Stack.Proxies);
                var figures = await fleet.RunAsync(
                    new DriveSpec { Addresses = side.Addresses, Connections = connections, InFlight = inFlight / connections, DurationS = options.During.TotalSeconds, WarmUpS = options.WarmUp.TotalSeconds },
                    1, [], cancellationToken);
                sent += side.Name == WholePath ? figures.Payments : default;
                return new CeilingRound(figures.DurationS, figures.PerSecond, figures.Latency.P50Ms, figures.Latency.P99Ms, figures.Failed);
            }, cancellationToken);
        }
        await RunCaseAsync(
            $"{Clients} x {options.Burst} at once", sides,
            async (side, round) =>
            {
                var burst = await BurstAsync(side, stack.Folder, round, cancellationToken);
                if (side.Name == WholePath)
                {
                    journals.AddRange(burst.Journals);
                    // The journals name those without an answer.
                    sent += new SentPayments(burst.Answered, Unanswered: 0);
                }
                return RoundOf(burst);
            },
            cancellationToken);
        _audits.Add(await StoreAudit.AuditAsync(stack, journals, sent, console, cancellationToken));
    }

    private async Task RunCaseAsync(
        string shape, IReadOnlyList<(string Name, IReadOnlyList<string> Addresses)> sides,
        Func<(string Name, IReadOnlyList<string> Addresses), int, Task<CeilingRound>> measure, CancellationToken cancellationToken)
    {
        var rounds = sides.ToDictionary(s => s.Name, _ => new List<CeilingRound>());
        _cases.Add(new CeilingCase(shape, new CeilingSide(rounds[sides[0].Name]), new CeilingSide(rounds[sides[1].Name])));
        await Repeats.RunAsync(
            sides, options.Rounds, measure,
            (side, measured) =>
            {
                rounds[side.Name].Add(measured);
                console.WriteLine(string.Create(CultureInfo.InvariantCulture,
                    $"{shape}, {side.Name}: {measured.PerSecond:N0}/s in {measured.DurationS:0.00} s, p50 {measured.P50Ms:0.0} ms, p99 {measured.P99Ms:0.0} ms, failed {measured.Failed}"));
            },
            cancellationToken);
    }

    private Task<Burst> BurstAsync(
        (string Name, IReadOnlyList<string> Addresses) side, StackFolder folder, int round, CancellationToken cancellationToken) =>
        Burst.RunAsync(
            new LoadOptions { Proxies = side.Addresses, Requests = options.Burst, WarmUp = WarmUp }, Clients, folder,
            string.Create(CultureInfo.InvariantCulture, $"{side.Name.Replace(' ', '-')}-{round}"), cancellationToken);

    private static CeilingRound RoundOf(Burst burst) => new(
        burst.TotalS, (burst.Payments.Count - burst.Payments.Errors) / burst.TotalS, burst.SinceStart.P50 * 1000,
        burst.SinceStart.P99 * 1000, burst.Payments.Errors);
}
