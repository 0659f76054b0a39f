using Grpc.Core;
using Polly;
using Polly.CircuitBreaker;

namespace Billing.Client;

/// <summary>Keeps calls from a proxy that lets them down, and lets one through from time to time to see whether it is back.
/// Safe from any thread.</summary>
internal sealed class Circuit
{
    private static readonly TimeSpan Window = TimeSpan.FromSeconds(10);

    private readonly TimeProvider _time;
    private readonly CircuitBreakerStateProvider _state = new();
    private readonly ResiliencePipeline _pipeline;

    // A timestamp, 0 while the circuit is closed: all that a call needs to know as long as nothing is wrong.
    private long _openUntil;

    public Circuit(BillingClientOptions options, TimeProvider time)
    {
        _time = time;
        _pipeline = new ResiliencePipelineBuilder { TimeProvider = time }.AddCircuitBreaker(new CircuitBreakerStrategyOptions
        {
            ShouldHandle = a => ValueTask.FromResult(a.Outcome.Exception is RpcException e && ProxyFailure.IsItsOwn(e)),
            FailureRatio = 0.5,
            MinimumThroughput = options.CircuitCallsMin,
            SamplingDuration = Window,
            BreakDuration = options.CircuitBreak,
            StateProvider = _state,
            OnOpened = a =>
            {
                Volatile.Write(ref _openUntil, time.GetTimestamp() + (long)(a.BreakDuration.TotalSeconds * time.TimestampFrequency));
                return default;
            },
            OnClosed = _ =>
            {
                Volatile.Write(ref _openUntil, 0);
                return default;
            },
        }).Build();
    }

    /// <summary>Whether a call may go there: not while the circuit is open, nor while another call tries whether it can close.
    /// </summary>
    public bool LetsThrough =>
        Volatile.Read(ref _openUntil) is var until
        && (until == 0 || (_time.GetTimestamp() >= until && _state.CircuitState == CircuitState.Open));

    /// <summary>0 closed, 1 half open, 2 open: as it is counted for people.</summary>
    public int State => _state.CircuitState switch
    {
        CircuitState.Closed => 0,
        CircuitState.HalfOpen => 1,
        _ => 2,
    };

    /// <summary>Makes a call and learns from its end.</summary>
    /// <exception cref="BrokenCircuitException">Another call was quicker to try a proxy that was away.</exception>
    public ValueTask<T> CallAsync<T, TState>(
        Func<TState, CancellationToken, ValueTask<T>> call, TState state, CancellationToken cancellationToken) =>
        _pipeline.ExecuteAsync(call, state, cancellationToken);

    /// <summary>Learns from a stream, which may last too long to be a call: how it ended, or null where it answered.</summary>
    public void Learn(RpcException? failure)
    {
        if (failure is null && Volatile.Read(ref _openUntil) == 0)
        {
            return;
        }
        try
        {
            _pipeline.Execute(static e =>
            {
                if (e is not null)
                {
                    throw e;
                }
            }, failure);
        }
        catch (Exception e) when (e == failure || e is BrokenCircuitException)
        {
            // Known already.
        }
    }
}
