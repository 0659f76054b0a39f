using Billing.Contracts;
using Grpc.Core;
using Microsoft.Extensions.Options;

namespace Billing.Proxy;

/// <summary>How many calls the proxy has taken, and whether it takes another. Refusing early keeps the calls it has at
/// their normal latency. A stream of payments counts as one call, or as many as it has payments in hand, and all streams
/// together have a share that they cannot exceed, so that calls always find room beside them.</summary>
public sealed class Admission(IOptions<ProxyOptions> options) : IDisposable
{
    private readonly ProxyOptions _options = options.Value;
    private readonly CancellationTokenSource _closing = new();
    private readonly int _streamsMax = Math.Max(1, (int)((long)options.Value.InFlightMax * options.Value.StreamPercent / 100));
    private int _inFlight;
    private int _ofStreams;

    /// <summary>Places taken: calls that wait for an answer, open streams, and what these have in hand.</summary>
    public int InFlight => Volatile.Read(ref _inFlight);

    /// <summary>Cancelled when the proxy begins to shut down: a stream answers what it has taken and ends.</summary>
    public CancellationToken Closing => _closing.Token;

    /// <summary>Places taken by streams.</summary>
    public int OfStreams => Volatile.Read(ref _ofStreams);

    /// <summary>Takes a call in; dispose of the result when it is answered.</summary>
    /// <exception cref="RpcException">RESOURCE_EXHAUSTED where there are too many already, UNAVAILABLE where the proxy is
    /// shutting down.</exception>
    public Admitted Enter()
    {
        if (!TryTake(ref _inFlight, _options.InFlightMax))
        {
            throw Full();
        }
        if (_closing.IsCancellationRequested)
        {
            Leave();
            throw Closed();
        }
        return new Admitted(this);
    }

    /// <summary>Takes the first place of a stream.</summary>
    /// <exception cref="RpcException">RESOURCE_EXHAUSTED where there are too many calls, or too many of streams, already,
    /// UNAVAILABLE where the proxy is shutting down.</exception>
    internal void EnterStream()
    {
        if (!TryGrowStream())
        {
            throw OfStreams >= _streamsMax ? FullOfStreams() : Full();
        }
        if (_closing.IsCancellationRequested)
        {
            ShrinkStream(1);
            throw Closed();
        }
    }

    /// <summary>Takes a further place for a stream.</summary>
    /// <returns>Whether there was one.</returns>
    internal bool TryGrowStream()
    {
        if (!TryTake(ref _ofStreams, _streamsMax))
        {
            return false;
        }
        if (TryTake(ref _inFlight, _options.InFlightMax))
        {
            return true;
        }
        Interlocked.Decrement(ref _ofStreams);
        return false;
    }

    /// <summary>Gives places of a stream back.</summary>
    internal void ShrinkStream(int places)
    {
        Interlocked.Add(ref _inFlight, -places);
        Interlocked.Add(ref _ofStreams, -places);
    }

    /// <summary>Refuses every further call, and tells the streams to come to an end.</summary>
    public void Close() => _closing.Cancel();

    /// <summary>What a caller is told that the proxy cannot serve, or go on serving, because it is shutting down.</summary>
    public static RpcException Closed() =>
        Failure.Create(StatusCode.Unavailable, ErrorReasons.ShuttingDown, "The proxy is shutting down.");

    /// <inheritdoc/>
    public void Dispose() => _closing.Dispose();

    // What does not fit is never counted, not even for a moment: one that is refused must not make those beside it be refused.
    private static bool TryTake(ref int taken, int max)
    {
        int before;
        do
        {
            before = Volatile.Read(ref taken);
            if (before >= max)
            {
                return false;
            }
        }
        while (Interlocked.CompareExchange(ref taken, before + 1, before) != before);
        return true;
    }

    private RpcException Full() => Failure.Create(StatusCode.ResourceExhausted, ErrorReasons.TooManyInFlight,
        $"The proxy has {_options.InFlightMax} calls in flight, as many as it may (Billing:Proxy:InFlightMax).", _options.RetryAfter);

    private RpcException FullOfStreams() => Failure.Create(StatusCode.ResourceExhausted, ErrorReasons.TooManyInFlight,
        $"The proxy's streams have {_streamsMax} places, as many as they may: {_options.StreamPercent} % of {_options.InFlightMax} (Billing:Proxy:StreamPercent).", _options.RetryAfter);

    private void Leave() => Interlocked.Decrement(ref _inFlight);

    /// <summary>A call that was taken in.</summary>
    public readonly struct Admitted(Admission admission) : IDisposable
    {
        /// <summary>The call is answered.</summary>
        public void Dispose() => admission.Leave();
    }
}
