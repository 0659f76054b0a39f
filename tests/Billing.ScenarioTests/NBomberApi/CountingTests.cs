using NBomber.Contracts;
using NBomber.Contracts.Stats;
using NBomber.CSharp;

namespace Billing.ScenarioTests.NBomberApi;

/// <summary>What a run counts is what the scenario did. One run of several scenarios, as a run takes some seconds.</summary>
[Collection(LoadRuns.Name)]
public sealed class CountingTests(CountingTests.OneRun run) : IClassFixture<CountingTests.OneRun>
{
    [Fact]
    public void Calls_at_a_rate_are_as_many_as_were_asked_for()
    {
        Assert.Equal(30, run.Calls("injected"));
        Assert.Equal(30, run.Of("injected").Ok.Request.Count);
        Assert.Equal(0, run.Of("injected").Fail.Request.Count);
    }

    [Fact]
    public void Calls_at_a_rate_come_throughout_the_interval_and_not_together() =>
        Assert.True(run.GreatestPause("injected") < TimeSpan.FromSeconds(0.9), $"{run.GreatestPause("injected")}");

    /// <summary>At 0, 50 of 100 of the way from 4 to 8.</summary>
    [Fact]
    public void A_ramp_takes_up_the_rate_before_it_and_grows_from_interval_to_interval() =>
        Assert.Equal(4 + 4 + 6, run.Of("ramp").Ok.Request.Count);

    [Fact]
    public void Each_status_is_counted_with_its_message()
    {
        var mixed = run.Of("mixed");
        var unavailable = Assert.Single(mixed.Fail.StatusCodes);
        Assert.Equal(("UNAVAILABLE", true, "gone"), (unavailable.StatusCode, unavailable.IsError, unavailable.Message));
        Assert.Equal(mixed.Fail.Request.Count, unavailable.Count);
        Assert.Equal(["ACCEPTED", "DECLINED"], mixed.Ok.StatusCodes.Select(c => c.StatusCode).Order(StringComparer.Ordinal));
        Assert.Equal(mixed.Ok.Request.Count, mixed.Ok.StatusCodes.Sum(c => c.Count));
        Assert.Equal(run.Calls("mixed"), mixed.Ok.Request.Count + mixed.Fail.Request.Count);
    }

    [Fact]
    public void A_call_that_throws_is_a_failed_one_and_the_run_goes_on()
    {
        var throwing = run.Of("throwing");
        Assert.Equal(run.Calls("throwing"), throwing.Fail.Request.Count);
        Assert.True(throwing.Fail.Request.Count > 1);
        Assert.Equal("not a payment", Assert.Single(throwing.Fail.StatusCodes).Message);
    }

    [Fact]
    public void Latencies_go_from_the_shortest_to_the_longest()
    {
        var latency = run.Of("mixed").Ok.Latency;
        double[] ascending = [latency.MinMs, latency.Percent50, latency.Percent75, latency.Percent95, latency.Percent99, latency.MaxMs];
        Assert.True(latency.MinMs > 0);
        // A percentile is the top of a range, which no maximum need reach.
        Assert.All(ascending.Zip(ascending.Skip(1)), pair => Assert.True(pair.First <= pair.Second * 1.002, string.Join(' ', ascending)));
        Assert.InRange(latency.MeanMs, latency.MinMs, latency.MaxMs);
    }

    [Fact]
    public void A_latency_that_the_answer_names_wins()
    {
        var latency = run.Of("injected").Ok.Latency;
        Assert.InRange(latency.Percent50, 1_498, 1_502);
        Assert.InRange(latency.MaxMs, 1_498, 1_502);
    }

    [Fact]
    public void Steps_are_counted_by_themselves_and_failed_ones_end_nothing_where_told_so()
    {
        var steps = run.Of("steps");
        Assert.Equal(run.Calls("steps"), steps.Ok.Request.Count);
        Assert.Equal(steps.Ok.Request.Count, steps.GetStepStats("pay").Fail.Request.Count);
        Assert.Equal(steps.Ok.Request.Count, steps.GetStepStats("check").Ok.Request.Count);
        Assert.Equal(steps.Ok.Request.Count, steps.GetStepStats("check").Ok.StatusCodes.Single().Count);
    }

    /// <summary>All scenarios, for two seconds.</summary>
    public sealed class OneRun
    {
        private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

        private readonly Dictionary<string, List<long>> _calls = new(StringComparer.Ordinal);
        private readonly NodeStats _stats;

        public OneRun() => _stats = NBomberRunner.RegisterScenarios(
            Counted("injected", (_, _) => Task.FromResult<IResponse>(Response.Ok(latencyMs: 1_500)))
                .WithLoadSimulations(Simulation.Inject(15, Second, 2 * Second), Simulation.Pause(Second)),
            Counted("ramp", (_, _) => Task.FromResult<IResponse>(Response.Ok()))
                .WithLoadSimulations(Simulation.Inject(4, Second, Second), Simulation.RampingInject(8, Second, 2 * Second), Simulation.Pause(Second)),
            Counted("mixed", async (_, call) =>
            {
                await Task.Delay(20);
                return (call % 4) switch
                {
                    0 => Response.Fail(statusCode: "UNAVAILABLE", message: "gone"),
                    1 => Response.Ok(statusCode: "DECLINED"),
                    _ => Response.Ok(statusCode: "ACCEPTED"),
                };
            }).WithLoadSimulations(Simulation.KeepConstant(2, 2 * Second)),
            Counted("throwing", async (_, _) =>
            {
                await Task.Delay(50);
                throw new FormatException("not a payment");
            }).WithLoadSimulations(Simulation.KeepConstant(1, 2 * Second)),
            Counted("steps", async (context, _) =>
            {
                await Step.Run("pay", context, () => Task.FromResult(Response.Fail(statusCode: "NO")));
                await Step.Run("check", context, async () =>
                {
                    await Task.Delay(20);
                    return Response.Ok(statusCode: "READ");
                });
                return Response.Ok();
            }).WithRestartIterationOnFail(false).WithLoadSimulations(Simulation.KeepConstant(2, 2 * Second)))
            .WithoutReports().Run();

        public int Calls(string scenario) => _calls[scenario].Count;

        /// <summary>The longest time between two calls, one after the other.</summary>
        public TimeSpan GreatestPause(string scenario) => _calls[scenario].Order().ToList() is var at
            ? at.Zip(at.Skip(1), TimeProvider.System.GetElapsedTime).Max()
            : default;

        public ScenarioStats Of(string scenario) => _stats.GetScenarioStats(scenario);

        private ScenarioProps Counted(string name, Func<IScenarioContext, int, Task<IResponse>> call)
        {
            var calls = _calls[name] = [];
            return Scenario.Create(name, async context =>
            {
                int number;
                lock (calls)
                {
                    calls.Add(TimeProvider.System.GetTimestamp());
                    number = calls.Count;
                }
                return await call(context, number);
            }).WithoutWarmUp();
        }
    }
}
