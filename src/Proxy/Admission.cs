using Billing.Contracts;
using Billing.Proxy.Security;
using Grpc.Core;
using Microsoft.Extensions.Options;

namespace Billing.Proxy;

/// <summary>How many calls the proxy has taken, and whether it takes another. Refusing early keeps the calls it has at
/// their normal latency. A stream of payments counts as one call, or as many as it has payments in hand, and all streams
/// together have a share that they cannot exceed, so that calls always find room beside them. Callers share the places
/// fairly (<see cref="CallerShares"/>).</summary>
public sealed class Admission(
    IOptions<ProxyOptions> options, IOptions<LimitOptions> limits, CallerRates rates, TimeProvider time) : IDisposable
{
    private readonly ProxyOptions _options = options.Value;
    private readonly CancellationTokenSource _closing = new();
    private readonly int _streamsMax = Math.Max(1, (int)((long)options.Value.InFlightMax * options.Value.StreamPercent / 100));
    private readonly CallerShares _shares = new(options.Value.InFlightMax, limits.Value.InFlightPerCaller, time);
    private int _inFlight;
    private int _ofStreams;

    /// <summary>Places taken: calls that wait for an answer, open streams, and what these have in hand.</summary>
    public int InFlight => Volatile.Read(ref _inFlight);

    /// <summary>Cancelled when the proxy begins to shut down: a stream answers what it has taken and ends.</summary>
    public CancellationToken Closing => _closing.Token;

    /// <summary>Places taken by streams.</summary>
    public int OfStreams => Volatile.Read(ref _ofStreams);

    /// <summary>Takes a call in; dispose of the result when it is answered.</summary>
    /// <param name="caller">Who makes it.</param>
    /// <param name="accountId">The account that it is about.</param>
    /// <exception cref="RpcException">PERMISSION_DENIED where the account is not the caller's, RESOURCE_EXHAUSTED where there are
    /// too many calls already, or too many of this caller, UNAVAILABLE where the proxy is shutting down.</exception>
    public Admitted Enter(Caller caller, string accountId)
    {
        caller.MustReach(accountId);
        rates.Count(caller);
        var share = _shares.Of(caller);
        var taken = InFlight;
        if (taken < _options.InFlightMax && !_shares.Allows(share, taken))
        {
            throw FullOfCaller(share);
        }
        if (!TryTake(ref _inFlight, _options.InFlightMax))
        {
            throw Full();
        }
        share.Add(1);
        if (_closing.IsCancellationRequested)
        {
            Leave(share);
            throw Closed();
        }
        return new Admitted(this, share);
    }

    /// <summary>Takes the first place of a stream.</summary>
    /// <returns>The share of its caller, from which its further places come.</returns>
    /// <exception cref="RpcException">RESOURCE_EXHAUSTED where there are too many calls, or too many of streams or of this
    /// caller, already, UNAVAILABLE where the proxy is shutting down.</exception>
    internal CallerShares.Share EnterStream(Caller caller)
    {
        var share = _shares.Of(caller);
        if (!TryGrowStream(share))
        {
            throw OfStreams >= _streamsMax ? FullOfStreams() : InFlight >= _options.InFlightMax ? Full() : FullOfCaller(share);
        }
        if (_closing.IsCancellationRequested)
        {
            ShrinkStream(share, 1);
            throw Closed();
        }
        return share;
    }

    /// <summary>Takes a further place for a stream.</summary>
    /// <returns>Whether there was one.</returns>
    internal bool TryGrowStream(CallerShares.Share share)
    {
        if (!_shares.Allows(share, InFlight) || !TryTake(ref _ofStreams, _streamsMax))
        {
            return false;
        }
        if (TryTake(ref _inFlight, _options.InFlightMax))
        {
            share.Add(1);
            return true;
        }
        Interlocked.Decrement(ref _ofStreams);
        return false;
    }

    /// <summary>Waits until a caller may send the next payment on a stream.</summary>
    internal ValueTask WaitForTurnAsync(Caller caller, CancellationToken cancellationToken) =>
        rates.WaitAsync(caller, cancellationToken);

    /// <summary>Gives places of a stream back.</summary>
    internal void ShrinkStream(CallerShares.Share share, int places)
    {
        share.Add(-places);
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

    private RpcException FullOfCaller(CallerShares.Share share) => Failure.Create(StatusCode.ResourceExhausted, ErrorReasons.CallerLimitReached,
        $"The caller has {share.Taken} calls in flight, as many as it may with {_shares.Callers} callers (Billing:Proxy:InFlightMax {_options.InFlightMax}, Billing:Limits:InFlightPerCaller {limits.Value.InFlightPerCaller}).", _options.RetryAfter);

    private void Leave(CallerShares.Share share)
    {
        share.Add(-1);
        Interlocked.Decrement(ref _inFlight);
    }

    /// <summary>A call that was taken in.</summary>
    public readonly struct Admitted : IDisposable
    {
        private readonly Admission _admission;
        private readonly CallerShares.Share _share;

        internal Admitted(Admission admission, CallerShares.Share share)
        {
            _admission = admission;
            _share = share;
        }

        /// <summary>The call is answered.</summary>
        public void Dispose() => _admission.Leave(_share);
    }
}
