using Grpc.Core;
using Polly;
using Polly.CircuitBreaker;

namespace Billing.Client;

/// <summary>Keeps calls from a proxy that lets them down, and lets one through from time to time to see whether it is back. Polly's
/// circuit breaker judges; it is told how calls end instead of making them, which costs them less. Safe from any thread.
/// </summary>
internal sealed class Circuit
{
    private static readonly TimeSpan Window = TimeSpan.FromSeconds(10);

    private readonly TimeProvider _time;
    private readonly long _break;
    private readonly ResiliencePipeline _pipeline;

    // A timestamp, 0 while the circuit is closed: all that a call needs to know as long as nothing is wrong.
    private long _openUntil;

    public Circuit(BillingClientOptions options, TimeProvider time)
    {
        _time = time;
        _break = (long)(options.CircuitBreak.TotalSeconds * time.TimestampFrequency);
        _pipeline = new ResiliencePipelineBuilder { TimeProvider = new SteadyTime(time) }.AddCircuitBreaker(new CircuitBreakerStrategyOptions
        {
            ShouldHandle = a => ValueTask.FromResult(a.Outcome.Exception is RpcException e && ProxyFailure.IsItsOwn(e)),
            FailureRatio = 0.5,
            MinimumThroughput = options.CircuitCallsMin,
            SamplingDuration = Window,
            BreakDuration = options.CircuitBreak,
            OnOpened = _ =>
            {
                Volatile.Write(ref _openUntil, time.GetTimestamp() + _break);
                return default;
            },
            OnClosed = _ =>
            {
                Volatile.Write(ref _openUntil, 0);
                return default;
            },
        }).Build();
    }

    /// <summary>Whether the next call may go there. While the circuit is open, one may after each break, and finds out for the
    /// others.</summary>
    public bool LetsThrough()
    {
        var until = Volatile.Read(ref _openUntil);
        if (until == 0)
        {
            return true;
        }
        var now = _time.GetTimestamp();
        return now >= until && Interlocked.CompareExchange(ref _openUntil, now + _break, until) == until;
    }

    /// <summary>Whether calls are kept from the proxy.</summary>
    public bool IsOpen => Volatile.Read(ref _openUntil) != 0;

    /// <summary>Learns how a call ended, or a stream; null where it was answered.</summary>
    public async ValueTask LearnAsync(RpcException? failure)
    {
        var context = ResilienceContextPool.Shared.Get();
        // That the circuit is open is an outcome too, and no news: what ends then was sent before, or had nowhere else to go.
        await _pipeline.ExecuteOutcomeAsync(
            static (_, e) => ValueTask.FromResult(e is null ? Outcome.FromResult(true) : Outcome.FromException<bool>(e)), context, failure);
        ResilienceContextPool.Shared.Return(context);
    }

    /// <summary>A clock that nobody sets: a break lasts as long as it should.</summary>
    private sealed class SteadyTime(TimeProvider time) : TimeProvider
    {
        public override long TimestampFrequency => time.TimestampFrequency;

        public override DateTimeOffset GetUtcNow() => DateTimeOffset.UnixEpoch + time.GetElapsedTime(0);

        public override long GetTimestamp() => time.GetTimestamp();
    }
}
