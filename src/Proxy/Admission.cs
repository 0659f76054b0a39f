using Billing.Contracts;
using Grpc.Core;
using Microsoft.Extensions.Options;

namespace Billing.Proxy;

/// <summary>How many calls the proxy has taken, and whether it takes another. Refusing early keeps the calls it has at
/// their normal latency. A stream of payments counts as many calls as it may hold.</summary>
public sealed class Admission(IOptions<ProxyOptions> options) : IDisposable
{
    private readonly ProxyOptions _options = options.Value;
    private readonly CancellationTokenSource _closing = new();
    private int _inFlight;

    /// <summary>Places taken: calls that wait for an answer, and what the open streams may hold.</summary>
    public int InFlight => Volatile.Read(ref _inFlight);

    /// <summary>Cancelled when the proxy begins to shut down: a stream answers what it has taken and ends.</summary>
    public CancellationToken Closing => _closing.Token;

    /// <summary>Takes a call in; dispose of the result when it is answered.</summary>
    /// <param name="places">How many calls it may hold at a time.</param>
    /// <exception cref="RpcException">RESOURCE_EXHAUSTED where there are too many already, UNAVAILABLE where the proxy is
    /// shutting down.</exception>
    public Admitted Enter(int places = 1)
    {
        // What does not fit is never counted, not even for a moment: a large stream that is refused must not make the
        // calls beside it be refused too.
        int before;
        do
        {
            before = InFlight;
            if (before > _options.InFlightMax - places)
            {
                throw Failure.Create(StatusCode.ResourceExhausted, ErrorReasons.TooManyInFlight,
                    $"The proxy has {before} of {_options.InFlightMax} calls in flight (Billing:Proxy:InFlightMax); this one takes {places}.",
                    _options.RetryAfter);
            }
        }
        while (Interlocked.CompareExchange(ref _inFlight, before + places, before) != before);
        if (_closing.IsCancellationRequested)
        {
            Leave(places);
            throw Closed();
        }
        return new Admitted(this, places);
    }

    /// <summary>Refuses every further call, and tells the streams to come to an end.</summary>
    public void Close() => _closing.Cancel();

    /// <summary>What a caller is told that the proxy cannot serve, or go on serving, because it is shutting down.</summary>
    public static RpcException Closed() =>
        Failure.Create(StatusCode.Unavailable, ErrorReasons.ShuttingDown, "The proxy is shutting down.");

    /// <inheritdoc/>
    public void Dispose() => _closing.Dispose();

    private void Leave(int places) => Interlocked.Add(ref _inFlight, -places);

    /// <summary>A call that was taken in.</summary>
    public readonly struct Admitted(Admission admission, int places) : IDisposable
    {
        /// <summary>The call is answered.</summary>
        public void Dispose() => admission.Leave(places);
    }
}
