using Billing.LocalStack.Processes;
using Spectre.Console;

namespace Billing.Measuring.Comparing.Rpc;

/// <summary>Measures all configurations in sequence. When it is stopped, the figures so far are printed and written too.
/// </summary>
internal sealed class RpcComparison(RpcOptions grid, Measurement measurement, IAnsiConsole console, TimeProvider time)
{
    private const int WarmUpCallers = 100;

    private readonly List<RpcCell> _cells = [];
    private readonly List<RpcVariant> _variants = [];

    /// <returns>The process's exit code: 0 only if every call was answered; 130 if it was stopped.</returns>
    public Task<int> RunAsync(CancellationToken cancellationToken) =>
        measurement.RunAsync(RpcResult.Format, MeasureAsync, Result, cancellationToken);

    private Task MeasureAsync(CancellationToken cancellationToken) => console.Progress()
        .Columns(new TaskDescriptionColumn(), new ProgressBarColumn(), new PercentageColumn(), new RemainingTimeColumn())
        .StartAsync(async progress =>
        {
            var bar = progress.AddTask("Calls", maxValue: grid.CallsOfSide * Protocols.All.Count);
            await WithSidesAsync(grid.Conditions, sides => MeasureGridAsync(sides, bar, cancellationToken), cancellationToken);
            var (threads, requests) = grid.VariedCell;
            foreach (var conditions in grid.Conditions.Others())
            {
                await WithSidesAsync(
                    conditions,
                    async sides => _variants.Add(new RpcVariant(conditions, await MeasureCellAsync(sides, threads, requests, bar, cancellationToken))),
                    cancellationToken);
            }
        });

    private async Task MeasureGridAsync(List<EchoSide> sides, ProgressTask bar, CancellationToken cancellationToken)
    {
        foreach (var threads in grid.Threads)
        {
            foreach (var requests in grid.Requests)
            {
                _cells.Add(await MeasureCellAsync(sides, threads, requests, bar, cancellationToken));
            }
        }
    }

    /// <summary>Starts all sides and warms them up, measures, and stops them.</summary>
    private async Task WithSidesAsync(RpcConditions conditions, Func<List<EchoSide>, Task> measure, CancellationToken cancellationToken)
    {
        var folder = Directory.CreateTempSubdirectory("billing-rpc-").FullName;
        var sides = new List<EchoSide>();
        using var ports = new FreePorts();
        try
        {
            foreach (var protocol in Protocols.All)
            {
                sides.Add(await EchoSide.StartAsync(protocol, ports.Take(), conditions, folder, cancellationToken));
            }
            foreach (var side in sides)
            {
                await side.RunAsync(WarmUpCallers, grid.WarmUp, time, cancellationToken);
            }
            await measure(sides);
        }
        finally
        {
            await Task.WhenAll(sides.Select(side => side.DisposeAsync().AsTask()));
            Directory.Delete(folder, recursive: true);
        }
    }

    private async Task<RpcCell> MeasureCellAsync(
        List<EchoSide> sides, int threads, int requests, ProgressTask bar, CancellationToken cancellationToken)
    {
        bar.Description = $"{threads} x {requests}";
        var runs = sides.ToDictionary(side => side.Protocol, _ => new List<RpcRun>());
        for (var run = 0; run < grid.Runs; run++)
        {
            for (var turn = 0; turn < sides.Count; turn++)
            {
                var side = sides[(run + turn) % sides.Count];
                var result = await side.RunAsync(threads, requests, time, cancellationToken);
                cancellationToken.ThrowIfCancellationRequested();
                if (run > 0)
                {
                    runs[side.Protocol].Add(result);
                }
                bar.Increment((double)threads * requests);
            }
        }
        return new RpcCell(threads, requests, [.. sides.Select(side => RpcSide.Of(side.Protocol, requests, runs[side.Protocol]))]);
    }

    private RpcResult Result(RunInfo run) => new()
    {
        Run = run,
        Runs = grid.Runs,
        Connections = grid.Connections,
        Conditions = grid.Conditions,
        Cells = _cells,
        Variants = _variants,
    };
}
