using System.Diagnostics;
using Billing.ContractTests.NBomberApi;
using NBomber.Contracts;
using NBomber.Contracts.Stats;
using NBomber.CSharp;

namespace Billing.ContractTests.Polyfills.NBomber;

/// <summary>What a stall of the called system does to the figures. An open load goes on calling, and every call that was
/// meant to start meanwhile shows how long it had to wait; a closed load waits too, and hardly notices.</summary>
[Collection(LoadRuns.Name)]
public class StallTests
{
    private const int Rate = 200;
    private static readonly TimeSpan During = TimeSpan.FromSeconds(4);

    [Fact]
    public void An_open_load_shows_a_stall_in_its_percentiles()
    {
        var server = new StallingServer();

        var latency = Run(server, Simulation.Inject(Rate, TimeSpan.FromSeconds(1), During), out var calls);

        var stall = server.Stalled.TotalMilliseconds;
        Assert.Equal(Rate * (int)During.TotalSeconds, calls);
        // Calls meant for the stall wait from nothing up to all of it, evenly: the longest hundredth of all calls are the
        // last hundredth of all calls before it ends, and so on. A tenth of the stall is left for a busy machine.
        Assert.True(latency.MaxMs >= 0.9 * stall, $"max {latency.MaxMs} ms of {stall} ms");
        Assert.True(latency.Percent99 >= Waited(0.01, stall), $"p99 {latency.Percent99} ms of {stall} ms");
        Assert.True(latency.Percent95 >= Waited(0.05, stall), $"p95 {latency.Percent95} ms of {stall} ms");
    }

    [Fact]
    public void A_closed_load_hides_the_same_stall()
    {
        var server = new StallingServer();

        var latency = Run(server, Simulation.KeepConstant(1, During), out var calls);

        var stall = server.Stalled.TotalMilliseconds;
        Assert.True(calls > 200, $"{calls} calls");
        Assert.True(latency.MaxMs >= 0.9 * stall, $"max {latency.MaxMs} ms of {stall} ms");
        Assert.True(latency.Percent99 < 0.5 * stall, $"p99 {latency.Percent99} ms of {stall} ms");
    }

    /// <summary>The latency that the given share of all calls reaches, were they spread evenly over the run.</summary>
    private static double Waited(double share, double stall) => stall - share * During.TotalMilliseconds - 0.1 * stall;

    private static LatencyStats Run(StallingServer server, LoadSimulation simulation, out int calls)
    {
        var stats = NBomberRunner.RegisterScenarios(Scenario.Create("stall", async _ =>
        {
            await server.AnswerAsync();
            return Response.Ok();
        }).WithoutWarmUp().WithLoadSimulations(simulation)).WithoutReports().Run();
        calls = stats.ScenarioStats.Get("stall").Ok.Request.Count;
        return stats.ScenarioStats.Get("stall").Ok.Latency;
    }

    /// <summary>Answers at once, but for about a second after its hundredth call it answers nobody.</summary>
    private sealed class StallingServer
    {
        private readonly TaskCompletionSource _opened = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private int _calls;
        private long _closed;

        public TimeSpan Stalled { get; private set; }

        public async Task AnswerAsync()
        {
            await Task.Yield();
            var call = Interlocked.Increment(ref _calls);
            if (call == 100)
            {
                _closed = Stopwatch.GetTimestamp();
                _ = OpenAsync();
            }
            if (call >= 100)
            {
                await _opened.Task;
            }
        }

        private async Task OpenAsync()
        {
            await Task.Delay(TimeSpan.FromSeconds(1));
            Stalled = Stopwatch.GetElapsedTime(_closed);
            _opened.SetResult();
        }
    }
}
