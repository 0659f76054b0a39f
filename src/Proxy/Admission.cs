using Billing.Contracts;
using Grpc.Core;
using Microsoft.Extensions.Options;

namespace Billing.Proxy;

/// <summary>How many calls the proxy has taken, and whether it takes another. Refusing early keeps the calls it has at
/// their normal latency.</summary>
public sealed class Admission(IOptions<ProxyOptions> options)
{
    private readonly ProxyOptions _options = options.Value;
    private int _inFlight;
    private volatile bool _closed;

    /// <summary>Calls that wait for an answer.</summary>
    public int InFlight => Volatile.Read(ref _inFlight);

    /// <summary>Takes a call in; dispose of the result when it is answered.</summary>
    /// <exception cref="RpcException">RESOURCE_EXHAUSTED where there are too many already, UNAVAILABLE where the proxy is
    /// shutting down.</exception>
    public Admitted Enter()
    {
        if (Interlocked.Increment(ref _inFlight) > _options.InFlightMax)
        {
            Leave();
            throw Failure.Create(StatusCode.ResourceExhausted, ErrorReasons.TooManyInFlight,
                $"The proxy has {_options.InFlightMax} calls in flight (Billing:Proxy:InFlightMax).", _options.RetryAfter);
        }
        if (_closed)
        {
            Leave();
            throw Failure.Create(StatusCode.Unavailable, ErrorReasons.ShuttingDown, "The proxy is shutting down.");
        }
        return new Admitted(this);
    }

    /// <summary>Refuses every further call.</summary>
    public void Close() => _closed = true;

    private void Leave() => Interlocked.Decrement(ref _inFlight);

    /// <summary>A call that was taken in.</summary>
    public readonly struct Admitted(Admission admission) : IDisposable
    {
        /// <summary>The call is answered.</summary>
        public void Dispose() => admission.Leave();
    }
}
