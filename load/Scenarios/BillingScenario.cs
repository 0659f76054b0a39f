using NBomber.Contracts;
using NBomber.CSharp;

namespace Billing.Scenarios;

/// <summary>A spec as a scenario of NBomber.</summary>
/// <param name="spec">What to do.</param>
/// <param name="calls">How to call.</param>
/// <param name="measured">Notes when measured calls go out and end.</param>
/// <param name="time">Bounds a burst's warm-up.</param>
/// <param name="interrupt">Ends the run before its time; what was measured is kept.</param>
internal sealed class BillingScenario(
    ScenarioSpec spec, BillingCalls calls, MeasuredTime measured, TimeProvider time, CancellationToken interrupt)
{
    public const string PaymentStep = "payment";
    public const string BalanceStep = "balance";

    // Callers of a burst's warm-up: enough to open every connection.
    private const int WarmUpCallers = 64;

    private readonly BurstGate? _gate = spec.Shape is LoadShape.Burst burst ? new BurstGate(burst.Calls, time) : null;
    private int _seed;

    /// <summary>The scenario.</summary>
    public ScenarioProps Props()
    {
        var scenario = Scenario.Create(spec.Scenario, RunAsync)
            .WithRestartIterationOnFail(false)
            // How many failures are too many is for the thresholds to say.
            .WithMaxFailCount(int.MaxValue)
            .WithLoadSimulations(Simulations.Of(spec.Shape));
        if (spec.WarmUp == TimeSpan.Zero)
        {
            return scenario.WithoutWarmUp();
        }
        return _gate is null
            // NBomber refuses to warm up for longer than it measures.
            ? scenario.WithWarmUpDuration(spec.WarmUp < spec.Shape.Planned ? spec.WarmUp : spec.Shape.Planned)
            // All at once cannot be said of a warm-up that takes a while.
            : scenario.WithoutWarmUp().WithInit(_ => WarmUpAsync());
    }

    private async Task<IResponse> RunAsync(IScenarioContext context)
    {
        if (interrupt.IsCancellationRequested)
        {
            // Not the whole run: NBomber would clean up twice at once then, and fail over its two progress displays.
            context.StopScenario(spec.Scenario, "interrupted");
        }
        if (_gate is not null)
        {
            await _gate.ArriveAsync(interrupt);
        }
        if (context.ScenarioInfo.ScenarioOperation != ScenarioOperation.Bombing)
        {
            return await CallAsync(context);
        }
        measured.Begin();
        var response = await CallAsync(context);
        measured.End();
        return response;
    }

    private async Task<IResponse> CallAsync(IScenarioContext context)
    {
        var random = NextRandom();
        return spec.PaymentPercent switch
        {
            100 => Answer(await calls.PayAsync(random)),
            0 => Answer(await calls.CheckAsync(random)),
            var percent => random.Next(100) < percent
                ? await Step.Run(PaymentStep, context, async () => Answer(await calls.PayAsync(random)))
                : await Step.Run(BalanceStep, context, async () => Answer(await calls.CheckAsync(random))),
        };
    }

    private Response<object> Answer(CallEnd end)
    {
        // The wait for the others of a burst is not the platform's; zero leaves measuring to NBomber.
        var latencyMs = _gate?.SinceOpened.TotalMilliseconds ?? 0;
        return end.IsOk
            ? Response.Ok(statusCode: end.Status, latencyMs: latencyMs)
            : Response.Fail(statusCode: end.Status, message: end.Message, latencyMs: latencyMs);
    }

    private Task WarmUpAsync()
    {
        var start = time.GetTimestamp();
        return Task.WhenAll(Enumerable.Range(0, WarmUpCallers).Select(async _ =>
        {
            var random = NextRandom();
            while (time.GetElapsedTime(start) < spec.WarmUp && !interrupt.IsCancellationRequested)
            {
                await calls.PayAsync(random);
            }
        }));
    }

    private Random NextRandom() => new(Interlocked.Increment(ref _seed));
}
