using Billing.ScenarioFiles;
using Billing.V1;
using NBomber.Contracts;
using NBomber.CSharp;

namespace Billing.Scenarios;

/// <summary>Creates the NBomber scenario of a spec.</summary>
/// <param name="calls">The calls to make.</param>
/// <param name="measured">Records the start and the end of the measured calls.</param>
/// <param name="time">The clock for a burst's warm-up.</param>
/// <param name="interrupt">Ends the run early; the figures measured so far are kept.</param>
internal sealed class BillingScenario(
    ScenarioSpec spec, BillingCalls calls, MeasuredTime measured, TimeProvider time, CancellationToken interrupt)
{
    public const string PaymentStep = "payment";
    public const string BalanceStep = "balance";
    public const string AuthorisationStep = "authorisation";
    public const string CaptureStep = "capture";
    public const string RefundStep = "refund";
    public const string LookUpStep = "look-up";

    // The number of callers in a burst's warm-up: enough to open every connection.
    private const int WarmUpCallers = 64;

    private readonly BurstGate? _gate = spec.Shape is LoadShape.Burst burst ? new BurstGate(burst.Calls, time) : null;
    private int _seed;

    /// <summary>Returns the scenario.</summary>
    public ScenarioProps Props()
    {
        var scenario = Scenario.Create(spec.Scenario, RunAsync)
            .WithRestartIterationOnFail(false)
            // The thresholds decide how many failures are too many.
            .WithMaxFailCount(int.MaxValue)
            .WithLoadSimulations(Simulations.Of(spec.Shape));
        if (spec.WarmUp == TimeSpan.Zero)
        {
            return scenario.WithoutWarmUp();
        }
        return _gate is null
            // NBomber refuses to warm up for longer than it measures.
            ? scenario.WithWarmUpDuration(spec.WarmUp < spec.Shape.Planned ? spec.WarmUp : spec.Shape.Planned)
            // A burst has no duration, so NBomber cannot warm up with it; callers in a closed loop do.
            : scenario.WithoutWarmUp().WithInit(_ => WarmUpAsync());
    }

    private async Task<IResponse> RunAsync(IScenarioContext context)
    {
        if (interrupt.IsCancellationRequested)
        {
            // Only the scenario is stopped: if the whole run were, NBomber would clean up twice at the same time and
            // fail because of its two progress displays.
            context.StopScenario(spec.Scenario, "interrupted");
        }
        if (_gate is not null)
        {
            await _gate.WaitForAllAsync(interrupt);
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
            100 when spec.Following != Following.None => await FollowAsync(context, random),
            100 => Answer(await calls.PayAsync(calls.Draw(random))),
            0 => Answer(await calls.CheckAsync(random)),
            var percent => random.Next(100) < percent
                ? await Step.Run(PaymentStep, context, async () => Answer(await calls.PayAsync(calls.Draw(random))))
                : await Step.Run(BalanceStep, context, async () => Answer(await calls.CheckAsync(random))),
        };
    }

    private async Task<IResponse> FollowAsync(IScenarioContext context, Random random)
    {
        var payment = calls.Draw(random);
        var made = spec.Following == Following.Capture
            ? await RunAsync(AuthorisationStep, calls.AuthoriseAsync)
            : await RunAsync(PaymentStep, calls.PayAsync);
        // A declined payment can be looked up, but not captured or given back.
        return made.IsError || (made.StatusCode == BillingCalls.Declined && spec.Following != Following.LookUp)
            ? made
            : spec.Following switch
            {
                Following.Capture => await RunAsync(CaptureStep, calls.CaptureAsync),
                Following.Refund => await RunAsync(RefundStep, calls.RefundAsync),
                Following.LookUp => await RunAsync(LookUpStep, calls.LookUpAsync),
                _ => throw new InvalidOperationException($"Unknown {spec.Following}."),
            };

        Task<Response<object>> RunAsync(string step, Func<MakePaymentRequest, Task<CallResult>> call) =>
            Step.Run(step, context, async () => Answer(await call(payment)));
    }

    private Response<object> Answer(CallResult end)
    {
        // Excludes the wait for the other calls of a burst; with zero NBomber's own measurement is used.
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
                await calls.PayAsync(calls.Draw(random));
            }
        }));
    }

    private Random NextRandom() => new(Interlocked.Increment(ref _seed));
}
