using Grpc.Core;
using Microsoft.Extensions.Logging;
using Polly;
using Polly.CircuitBreaker;

namespace Billing.Client;

/// <summary>The circuit breaker of a proxy: keeps calls away from a failing proxy, and lets a trial call through after
/// each break. Polly's circuit breaker decides; it receives the outcomes of calls instead of executing them, which
/// costs less per call. Thread-safe.</summary>
internal sealed class Circuit
{
    private static readonly TimeSpan Window = TimeSpan.FromSeconds(10);

    private readonly TimeProvider _time;
    private readonly long _break;
    private readonly ResiliencePipeline _pipeline;

    // A timestamp, 0 while the circuit is closed: in the normal case a call reads only this field.
    private long _openUntil;

    /// <param name="proxy">The name of the proxy, for the log.</param>
    /// <param name="options">The options.</param>
    /// <param name="time">The clock.</param>
    /// <param name="log">The log.</param>
    public Circuit(string proxy, BillingClientOptions options, TimeProvider time, ILogger log)
    {
        _time = time;
        _break = (long)(options.CircuitBreak.TotalSeconds * time.TimestampFrequency);
        _pipeline = new ResiliencePipelineBuilder { TimeProvider = new SteadyTime(time) }.AddCircuitBreaker(
            new CircuitBreakerStrategyOptions
            {
                ShouldHandle = a =>
                    ValueTask.FromResult(a.Outcome.Exception is RpcException e && ProxyFailure.IsProxySpecific(e)),
                FailureRatio = 0.5,
                MinimumThroughput = options.CircuitCallsMin,
                SamplingDuration = Window,
                BreakDuration = options.CircuitBreak,
                OnOpened = _ =>
                {
                    log.CircuitOpened(proxy, options.CircuitBreak);
                    return SetAsync(time.GetTimestamp() + _break);
                },
                OnClosed = _ =>
                {
                    log.CircuitClosed(proxy);
                    return SetAsync(0);
                },
            }).Build();
    }

    public bool IsOpen => Volatile.Read(ref _openUntil) != 0;

    /// <summary>Returns whether the next call may go to the proxy. While the circuit is open, one trial call is allowed
    /// after each break.</summary>
    public bool TryAllowCall()
    {
        var until = Volatile.Read(ref _openUntil);
        if (until == 0)
        {
            return true;
        }
        var now = _time.GetTimestamp();
        return now >= until && Interlocked.CompareExchange(ref _openUntil, now + _break, until) == until;
    }

    /// <summary>Records the outcome of a call or a stream; null if it was answered.</summary>
    public async ValueTask RecordOutcomeAsync(RpcException? failure)
    {
        if (failure is not null && ProxyFailure.IsUnanswered(failure))
        {
            // Polly would take it for a success, and close the circuit after a trial call at a proxy
            // that is still away.
            return;
        }
        var context = ResilienceContextPool.Shared.Get();
        // The outcome that the circuit is open is ignored: calls that end then were sent before, or no other
        // proxy was available.
        await _pipeline.ExecuteOutcomeAsync(
            static (_, e) =>
                ValueTask.FromResult(e is null ? Polly.Outcome.FromResult(true) : Polly.Outcome.FromException<bool>(e)),
            context, failure)
            .ConfigureAwait(false);
        ResilienceContextPool.Shared.Return(context);
    }

    private ValueTask SetAsync(long openUntil)
    {
        Volatile.Write(ref _openUntil, openUntil);
        return default;
    }

    /// <summary>A monotonic clock: adjustments of the system clock do not change the length of a break.</summary>
    private sealed class SteadyTime(TimeProvider time) : TimeProvider
    {
        public override long TimestampFrequency => time.TimestampFrequency;

        public override DateTimeOffset GetUtcNow() => DateTimeOffset.UnixEpoch + time.GetElapsedTime(0);

        public override long GetTimestamp() => time.GetTimestamp();
    }
}
