using NBomber.Contracts;
using NBomber.Contracts.Stats;
using NBomber.CSharp;

namespace Billing.ScenarioTests.NBomberApi;

/// <summary>A run counts exactly the calls of its scenarios. All tests share one run, because a run
/// takes some seconds.</summary>
[Collection(LoadRuns.Name)]
public sealed class CountingTests(CountingTests.OneRun run) : IClassFixture<CountingTests.OneRun>
{
    [Fact]
    public void Calls_at_a_rate_are_as_many_as_requested()
    {
        Assert.Equal(30, run.Calls("injected"));
        Assert.Equal(30, run.Of("injected").Ok.Request.Count);
        Assert.Equal(0, run.Of("injected").Fail.Request.Count);
    }

    /// <summary>A lower bound only: a busy machine cannot make the calls earlier. Without the spreading, the last call
    /// is made one second after the beginning.</summary>
    [Fact]
    public void Calls_at_a_rate_are_spread_over_the_interval() =>
        Assert.True(run.LastCall("injected") > TimeSpan.FromSeconds(1.5), $"{run.LastCall("injected")}");

    /// <summary>The ramp from 4 to 8 calls has 4 in its first interval, at 0 %, and 6 in its second, at 50 %.</summary>
    [Fact]
    public void A_ramp_starts_at_the_rate_before_it_and_grows_with_each_interval() =>
        Assert.Equal(4 + 4 + 6, run.Of("ramp").Ok.Request.Count);

    [Fact]
    public void Each_status_is_counted_with_its_message()
    {
        var mixed = run.Of("mixed");
        var unavailable = Assert.Single(mixed.Fail.StatusCodes);
        Assert.Equal(("UNAVAILABLE", true, "gone"), (unavailable.StatusCode, unavailable.IsError, unavailable.Message));
        Assert.Equal(mixed.Fail.Request.Count, unavailable.Count);
        Assert.Equal(
            ["ACCEPTED", "DECLINED"], mixed.Ok.StatusCodes.Select(c => c.StatusCode).Order(StringComparer.Ordinal));
        Assert.Equal(mixed.Ok.Request.Count, mixed.Ok.StatusCodes.Sum(c => c.Count));
        Assert.Equal(run.Calls("mixed"), mixed.Ok.Request.Count + mixed.Fail.Request.Count);
    }

    [Fact]
    public void A_call_that_throws_counts_as_failed_and_the_run_continues()
    {
        var throwing = run.Of("throwing");
        Assert.Equal(run.Calls("throwing"), throwing.Fail.Request.Count);
        Assert.True(throwing.Fail.Request.Count > 1);
        Assert.Equal("not a payment", Assert.Single(throwing.Fail.StatusCodes).Message);
    }

    [Fact]
    public void Latency_percentiles_are_in_ascending_order()
    {
        var latency = run.Of("mixed").Ok.Latency;
        double[] ascending =
        [
            latency.MinMs, latency.Percent50, latency.Percent75, latency.Percent95, latency.Percent99, latency.MaxMs,
        ];
        Assert.True(latency.MinMs > 0);
        // A percentile is the upper bound of a histogram bucket, so it can be slightly above the maximum.
        Assert.All(
            ascending.Zip(ascending.Skip(1)),
            pair => Assert.True(pair.First <= pair.Second * 1.002, string.Join(' ', ascending)));
        Assert.InRange(latency.MeanMs, latency.MinMs, latency.MaxMs);
    }

    [Fact]
    public void A_latency_given_by_the_response_replaces_the_measured_one()
    {
        var latency = run.Of("injected").Ok.Latency;
        Assert.InRange(latency.Percent50, 1_498, 1_502);
        Assert.InRange(latency.MaxMs, 1_498, 1_502);
    }

    [Fact]
    public void Steps_are_counted_separately_and_a_failed_step_need_not_end_the_iteration()
    {
        var steps = run.Of("steps");
        Assert.Equal(run.Calls("steps"), steps.Ok.Request.Count);
        Assert.Equal(steps.Ok.Request.Count, steps.GetStepStats("pay").Fail.Request.Count);
        Assert.Equal(steps.Ok.Request.Count, steps.GetStepStats("check").Ok.Request.Count);
        Assert.Equal(steps.Ok.Request.Count, steps.GetStepStats("check").Ok.StatusCodes.Single().Count);
    }

    /// <summary>The run of all scenarios, which takes two seconds.</summary>
    public sealed class OneRun
    {
        private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

        private readonly Dictionary<string, List<long>> _calls = new(StringComparer.Ordinal);
        private readonly Dictionary<string, long> _initialized = new(StringComparer.Ordinal);
        private readonly NodeStats _stats;

        public OneRun() => _stats = NBomberRunner.RegisterScenarios(
            Counted("injected", (_, _) => Task.FromResult<IResponse>(Response.Ok(latencyMs: 1_500)))
                .WithLoadSimulations(Simulation.Inject(15, Second, 2 * Second), Simulation.Pause(Second)),
            Counted("ramp", (_, _) => Task.FromResult<IResponse>(Response.Ok()))
                .WithLoadSimulations(
                    Simulation.Inject(4, Second, Second),
                    Simulation.RampingInject(8, Second, 2 * Second), Simulation.Pause(Second)),
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

        /// <summary>Returns the time from the initialization of a scenario to its last call.</summary>
        public TimeSpan LastCall(string scenario) =>
            TimeProvider.System.GetElapsedTime(_initialized[scenario], _calls[scenario].Max());

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
            }).WithInit(_ =>
            {
                _initialized[name] = TimeProvider.System.GetTimestamp();
                return Task.CompletedTask;
            }).WithoutWarmUp();
        }
    }
}
