using System.Collections.Concurrent;
using System.Diagnostics;
using NBomber.Contracts;
using NBomber.Contracts.Stats;
using NBomber.CSharp;

namespace Billing.ContractTests.NBomberApi;

/// <summary>What a run counts is what the scenario did.</summary>
[Collection(LoadRuns.Name)]
public class CountingTests
{
    [Fact]
    public void A_number_of_iterations_is_kept_to_by_the_closed_model()
    {
        var calls = 0;

        var stats = Run(Scenario.Create("closed", async _ =>
        {
            await Task.Yield();
            Interlocked.Increment(ref calls);
            return Response.Ok();
        }).WithLoadSimulations(Simulation.IterationsForConstant(copies: 7, iterations: 500)));

        Assert.Equal(500, calls);
        Assert.Equal(500, stats.ScenarioStats.Get("closed").Ok.Request.Count);
        Assert.Equal(0, stats.ScenarioStats.Get("closed").Fail.Request.Count);
    }

    [Fact]
    public void A_number_of_iterations_is_kept_to_by_the_open_model()
    {
        var calls = 0;

        var stats = Run(Scenario.Create("open", async _ =>
        {
            await Task.Yield();
            Interlocked.Increment(ref calls);
            return Response.Ok();
        }).WithLoadSimulations(Simulation.IterationsForInject(rate: 100, interval: TimeSpan.FromSeconds(1), iterations: 150)));

        Assert.Equal(150, calls);
        Assert.Equal(150, stats.ScenarioStats.Get("open").Ok.Request.Count);
    }

    [Fact]
    public void Each_status_is_counted_with_its_message_and_its_share()
    {
        var stats = Run(Scenario.Create("mixed", context => Task.FromResult<IResponse>((context.InvocationNumber % 4) switch
        {
            0 => Response.Fail(statusCode: "UNAVAILABLE", message: "gone"),
            1 => Response.Ok(statusCode: "DECLINED"),
            _ => Response.Ok(statusCode: "ACCEPTED", sizeBytes: 100),
        })).WithLoadSimulations(Simulation.IterationsForConstant(copies: 1, iterations: 400)));

        var mixed = stats.ScenarioStats.Get("mixed");
        Assert.Equal(200, mixed.Ok.StatusCodes.Get("ACCEPTED").Count);
        Assert.Equal(100, mixed.Ok.StatusCodes.Get("DECLINED").Count);
        var unavailable = mixed.Fail.StatusCodes.Get("UNAVAILABLE");
        Assert.Equal((100, true, "gone"), (unavailable.Count, unavailable.IsError, unavailable.Message));
        Assert.Equal((300, 75), (mixed.Ok.Request.Count, mixed.Ok.Request.Percent));
        Assert.Equal((100, 25), (mixed.Fail.Request.Count, mixed.Fail.Request.Percent));
        Assert.Equal(200 * 100, mixed.Ok.DataTransfer.AllBytes);
    }

    [Fact]
    public void A_call_that_throws_is_a_failed_one_and_the_run_goes_on()
    {
        var stats = Run(Scenario.Create("throwing", async context =>
        {
            await Task.Yield();
            return context.InvocationNumber % 2 == 0 ? throw new FormatException("not a payment") : Response.Ok();
        }).WithLoadSimulations(Simulation.IterationsForConstant(copies: 1, iterations: 40)));

        var throwing = stats.ScenarioStats.Get("throwing");
        Assert.Equal((20, 20), (throwing.Ok.Request.Count, throwing.Fail.Request.Count));
        Assert.Equal("not a payment", Assert.Single(throwing.Fail.StatusCodes).Message);
    }

    [Fact]
    public void Latencies_cover_what_the_calls_took_from_the_shortest_to_the_longest()
    {
        var taken = new ConcurrentBag<double>();

        var stats = Run(Scenario.Create("timed", async _ =>
        {
            var start = Stopwatch.GetTimestamp();
            await Task.Delay(20);
            taken.Add(Stopwatch.GetElapsedTime(start).TotalMilliseconds);
            return Response.Ok();
        }).WithLoadSimulations(Simulation.IterationsForConstant(copies: 4, iterations: 80)));

        var latency = stats.ScenarioStats.Get("timed").Ok.Latency;
        Assert.True(latency.MinMs >= taken.Min() * 0.998, $"{latency.MinMs} for {taken.Min()}");
        Assert.True(latency.MaxMs >= taken.Max() * 0.998, $"{latency.MaxMs} for {taken.Max()}");
        double[] ascending = [latency.MinMs, latency.Percent50, latency.Percent75, latency.Percent95, latency.Percent99, latency.MaxMs];
        Assert.Equal(ascending.Order(), ascending);
        Assert.InRange(latency.MeanMs, latency.MinMs, latency.MaxMs);
    }

    [Fact]
    public void A_latency_that_the_answer_names_wins()
    {
        var stats = Run(Scenario.Create("told", _ => Task.FromResult<IResponse>(Response.Ok<int>(customLatencyMs: 1_500)))
            .WithLoadSimulations(Simulation.IterationsForConstant(copies: 1, iterations: 10)));

        var latency = stats.ScenarioStats.Get("told").Ok.Latency;
        Assert.InRange(latency.Percent50, 1_498, 1_502);
        Assert.InRange(latency.MaxMs, 1_498, 1_502);
    }

    [Fact]
    public void Steps_are_counted_by_themselves()
    {
        var stats = Run(Scenario.Create("steps", async context =>
        {
            await Step.Run("pay", context, () => Task.FromResult(Response.Ok(statusCode: "PAID")));
            await Step.Run("check", context, () => Task.FromResult(Response.Ok(statusCode: "READ")));
            return Response.Ok();
        }).WithLoadSimulations(Simulation.IterationsForConstant(copies: 2, iterations: 30)));

        var steps = stats.ScenarioStats.Get("steps").StepStats;
        Assert.Equal(30, steps.Get("pay").Ok.StatusCodes.Get("PAID").Count);
        Assert.Equal(30, steps.Get("check").Ok.Request.Count);
    }

    [Theory, InlineData(true), InlineData(false)]
    public void A_failed_step_ends_its_iteration_unless_told_otherwise(bool restart)
    {
        var stats = Run(Scenario.Create("failing", async context =>
        {
            await Step.Run("first", context, () => Task.FromResult(Response.Fail(statusCode: "NO")));
            await Step.Run("second", context, () => Task.FromResult(Response.Ok()));
            return Response.Ok();
        }).WithRestartIterationOnFail(restart).WithLoadSimulations(Simulation.IterationsForConstant(copies: 1, iterations: 10)));

        var failing = stats.ScenarioStats.Get("failing");
        Assert.Equal(10, failing.StepStats.Get("first").Fail.Request.Count);
        Assert.Equal(restart ? 0 : 10, failing.StepStats.Find("second")?.Ok.Request.Count ?? 0);
        Assert.Equal(restart ? 10 : 0, failing.Fail.Request.Count);
    }

    private static NodeStats Run(ScenarioProps scenario) =>
        NBomberRunner.RegisterScenarios(scenario.WithoutWarmUp()).WithoutReports().Run();
}
