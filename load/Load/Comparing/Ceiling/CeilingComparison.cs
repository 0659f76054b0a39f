using System.Globalization;
using Billing.Cli.Experiment;
using Billing.Cli.Stack;
using Billing.Cli.Topology;
using Billing.Client.Load;
using Billing.Load.Driving;
using Billing.Load.Measuring;
using Spectre.Console;

namespace Billing.Load.Comparing.Ceiling;

/// <summary>What to compare with the echo.</summary>
internal sealed record CeilingOptions
{
    /// <summary>The stack of the whole path; there are as many echoes as proxies.</summary>
    public required StackOptions Stack { get; init; }

    /// <summary>Requests that each of three clients sends at once.</summary>
    public required int Burst { get; init; }

    /// <summary>Requests under way in the closed loops, in turn.</summary>
    public required IReadOnlyList<int> InFlight { get; init; }

    /// <summary>Rounds that count; one more is run before and dropped.</summary>
    public required int Rounds { get; init; }

    /// <summary>Seconds of each closed loop.</summary>
    public required int DuringS { get; init; }

    /// <summary>Folder for the results.</summary>
    public required string Out { get; init; }

    /// <summary>The command line, for the report.</summary>
    public required string CommandLine { get; init; }
}

/// <summary>What the platform costs beside the calls themselves: its whole path against a plain gRPC echo in the same shape,
/// with the same clients.</summary>
internal sealed class CeilingComparison(CeilingOptions options, IAnsiConsole console, TimeProvider time)
{
    private const int Clients = 3;
    private const int WarmUp = 1000;
    private const int WarmUpS = 2;

    private readonly List<CeilingCase> _cases = [];

    /// <summary>Measures, prints and writes.</summary>
    /// <returns>0 when no request failed; 130 when it was stopped.</returns>
    public async Task<int> RunAsync(CancellationToken cancellationToken)
    {
        var at = time.GetUtcNow();
        try
        {
            await using var stack = await Starting.StackAsync(options.Stack, console, cancellationToken);
            await using var echoes = await EchoProxies.StartAsync(options.Stack.Proxies, stack.Folder, cancellationToken);
            await MeasureAsync(stack, echoes, cancellationToken);
        }
        catch (OperationCanceledException) when (_cases.Count > 0)
        {
            console.WriteLine("Stopped; what was measured by then:");
        }
        var report = new CeilingReport
        {
            Command = options.CommandLine,
            At = at,
            Proxies = options.Stack.Proxies,
            Rounds = options.Rounds,
            Cases = [.. _cases.Where(c => c.Full.Rounds.Count > 0 && c.Echo.Rounds.Count > 0)],
            Complete = !cancellationToken.IsCancellationRequested,
            Machine = Machine.This(),
        };
        await new ResultFolder(console, options.Out).WriteAsync(report, CeilingJson.Default.CeilingReport, CeilingPage.Of(report));
        return cancellationToken.IsCancellationRequested ? 130 : _cases.All(c => c.Full.Rounds.Concat(c.Echo.Rounds).All(r => r.Failed == 0)) ? 0 : 1;
    }

    private async Task MeasureAsync(BillingStack stack, EchoProxies echoes, CancellationToken cancellationToken)
    {
        IReadOnlyList<(string Name, IReadOnlyList<string> Addresses)> sides = [("whole path", stack.ProxyAddresses), ("echo", echoes.Addresses)];
        var fleet = new DriveFleet(stack.Folder);
        foreach (var inFlight in options.InFlight)
        {
            await RunCaseAsync($"{inFlight} in flight", sides, async (side, _) =>
            {
                var connections = Math.Min(inFlight, options.Stack.Proxies);
                var figures = await fleet.RunAsync(
                    new DriveSpec { Addresses = side.Addresses, Connections = connections, InFlight = inFlight / connections, DurationS = options.DuringS, WarmUpS = WarmUpS },
                    1, [], cancellationToken);
                return new CeilingRound(figures.DurationS, figures.PerSecond, figures.Latency.P50Ms, figures.Latency.P99Ms, figures.Failed);
            }, cancellationToken);
        }
        await RunCaseAsync(
            $"{Clients} x {options.Burst} at once", sides,
            (side, round) => BurstAsync(side, stack.Folder, round, cancellationToken), cancellationToken);
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

    private async Task<CeilingRound> BurstAsync(
        (string Name, IReadOnlyList<string> Addresses) side, StackFolder folder, int round, CancellationToken cancellationToken)
    {
        var load = new LoadOptions { Proxies = side.Addresses, Requests = options.Burst, WarmUp = WarmUp };
        var name = string.Create(CultureInfo.InvariantCulture, $"{side.Name.Replace(' ', '-')}-{round}");
        await using var clients = ClientFleet.Start(load, Clients, folder, name);
        await clients.WaitUntilReadyAsync(cancellationToken);
        var results = await clients.RunAsync(cancellationToken);
        var summary = Summary.Of([.. results.Select(r => r.Payments)]);
        var total = (results.Max(r => r.EndedUnixUs) - results.Min(r => r.StartedUnixUs)) / 1e6;
        return new CeilingRound(total, (summary.Count - summary.Errors) / total, summary.P50 * 1000, summary.P99 * 1000, summary.Errors);
    }
}
