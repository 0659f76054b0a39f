using NBomber.Contracts;
using NBomber.CSharp;

namespace Billing.Load.Scenarios;

/// <summary>A plan as a scenario of NBomber.</summary>
internal static class BillingScenario
{
    public const string PaymentStep = "payment";
    public const string BalanceStep = "balance";

    // Callers of a burst's warm-up: enough to open every connection.
    private const int WarmUpCallers = 64;

    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    /// <param name="plan">What to do.</param>
    /// <param name="calls">How to call.</param>
    /// <param name="time">Bounds a burst's warm-up.</param>
    /// <param name="interrupt">Ends the run before its time; what was measured is kept.</param>
    public static ScenarioProps Of(LoadPlan plan, BillingCalls calls, TimeProvider time, CancellationToken interrupt)
    {
        var scenario = Scenario.Create(plan.Scenario, async context =>
            {
                if (interrupt.IsCancellationRequested)
                {
                    context.StopCurrentTest("interrupted");
                }
                return await CallAsync(plan, calls, context);
            })
            .WithRestartIterationOnFail(false)
            // How many failures are too many is for the thresholds to say.
            .WithMaxFailCount(int.MaxValue)
            .WithLoadSimulations([.. Simulations(plan.Shape)]);
        if (plan.WarmUp == TimeSpan.Zero || plan.Shape is LoadShape.Burst)
        {
            scenario = scenario.WithoutWarmUp();
        }
        else
        {
            scenario = scenario.WithWarmUpDuration(plan.WarmUp);
        }
        // All at once cannot be said of a warm-up that takes a while.
        return plan.Shape is LoadShape.Burst && plan.WarmUp > TimeSpan.Zero
            ? scenario.WithInit(_ => WarmUpAsync(plan.WarmUp, calls, time, interrupt))
            : scenario;
    }

    private static IEnumerable<LoadSimulation> Simulations(LoadShape shape) => shape switch
    {
        LoadShape.Open open => [Simulation.Inject(open.Rate, Second, open.During)],
        LoadShape.Closed closed => [Simulation.KeepConstant(closed.Copies, closed.During)],
        // A ramp starts at the rate of the simulation before it.
        LoadShape.Ramp ramp => [Simulation.Inject(ramp.From, Second, Second), Simulation.RampingInject(ramp.To, Second, ramp.During)],
        LoadShape.Burst burst => [Simulation.IterationsForConstant(burst.Calls, burst.Calls)],
        _ => throw new InvalidOperationException($"There is no load shape {shape.GetType().Name}."),
    };

    private static async Task<IResponse> CallAsync(LoadPlan plan, BillingCalls calls, IScenarioContext context)
    {
        var random = context.Random;
        return plan.PaymentPercent switch
        {
            100 => await calls.PayAsync(random),
            0 => await calls.CheckAsync(random),
            var percent => random.Next(100) < percent
                ? await Step.Run(PaymentStep, context, () => calls.PayAsync(random))
                : await Step.Run(BalanceStep, context, () => calls.CheckAsync(random)),
        };
    }

    private static Task WarmUpAsync(TimeSpan during, BillingCalls calls, TimeProvider time, CancellationToken interrupt)
    {
        var start = time.GetTimestamp();
        return Task.WhenAll(Enumerable.Range(0, WarmUpCallers).Select(async caller =>
        {
            var random = new Random(caller);
            while (time.GetElapsedTime(start) < during && !interrupt.IsCancellationRequested)
            {
                await calls.PayAsync(random);
            }
        }));
    }
}
