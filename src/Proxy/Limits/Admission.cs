using Billing.Contracts;
using Billing.Proxy.Failures;
using Billing.Proxy.Security;
using Grpc.Core;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Limits;

/// <summary>How many calls the proxy has taken, and whether it takes another. Refusing early keeps the calls it has at
/// their normal latency. A stream of payments counts as one call, or as many as it has payments in hand, and all streams
/// together have a share that they cannot exceed, so that calls always find room beside them. Callers share the places
/// fairly (<see cref="CallerShares"/>).</summary>
public sealed class Admission(
    IOptions<ProxyOptions> options, IOptions<LimitOptions> limits, CallerRates rates, TimeProvider time) : IDisposable
{
    private readonly ProxyOptions _options = options.Value;
    private readonly CancellationTokenSource _closing = new();
    private readonly CallerShares _shares = new(limits.Value.InFlightPerCaller, time);
    private readonly RetryAdvice _advice = new(options.Value.RetryAfter, time);
    private readonly LatencyLimit? _latency = options.Value.LatencyTarget > TimeSpan.Zero
        ? new LatencyLimit(options.Value.InFlightMax, options.Value.LatencyTarget, time)
        : null;

    private int _inFlight;
    private int _ofStreams;

    /// <summary>Places taken: calls that wait for an answer, open streams, and what these have in hand.</summary>
    public int InFlight => Volatile.Read(ref _inFlight);

    /// <summary>Places that there are: fewer than <see cref="ProxyOptions.InFlightMax"/> where calls would not be answered within
    /// <see cref="ProxyOptions.LatencyTarget"/>.</summary>
    public int Places => _latency?.Current ?? _options.InFlightMax;

    private int StreamPlaces => Math.Max(1, (int)((long)Places * _options.StreamPercent / 100));

    /// <summary>Cancelled when the proxy begins to shut down: a stream answers what it has taken and ends.</summary>
    public CancellationToken Closing => _closing.Token;

    /// <summary>Places taken by streams.</summary>
    public int OfStreams => Volatile.Read(ref _ofStreams);

    /// <summary>Takes a call in; dispose of the result when it is answered.</summary>
    /// <param name="caller">Who makes it.</param>
    /// <param name="accountId">The account that it is about.</param>
    /// <param name="isTimed">Whether its duration says how busy the proxy is, and not how slowly its caller reads.</param>
    /// <exception cref="RpcException">PERMISSION_DENIED where the account is not the caller's, RESOURCE_EXHAUSTED where there are
    /// too many calls already, or too many of this caller, UNAVAILABLE where the proxy is shutting down.</exception>
    public Admitted Enter(Caller caller, string accountId, bool isTimed = true)
    {
        caller.MustReach(accountId);
        rates.Count(caller);
        var share = _shares.Of(caller);
        var taken = InFlight;
        var places = Places;
        if (taken < places && !_shares.Allows(share, taken, places))
        {
            throw FullOfCaller(share);
        }
        if (!TryTake(ref _inFlight, places))
        {
            throw Full();
        }
        _advice.Admitted();
        share.Add(1);
        if (_closing.IsCancellationRequested)
        {
            Leave(share);
            throw Closed();
        }
        return new Admitted(this, share, _latency is null || !isTimed ? null : time.GetTimestamp());
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
            throw OfStreams >= StreamPlaces ? FullOfStreams() : InFlight >= Places ? Full() : FullOfCaller(share);
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
        var places = Places;
        if (!_shares.Allows(share, InFlight, places) || !TryTake(ref _ofStreams, StreamPlaces))
        {
            return false;
        }
        if (TryTake(ref _inFlight, places))
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
        $"The proxy has {Places} calls in flight, as many as it may ({(_latency is null ? "Billing:Proxy:InFlightMax" : "Billing:Proxy:LatencyTarget")}).", _advice.Refused());

    private RpcException FullOfStreams() => Failure.Create(StatusCode.ResourceExhausted, ErrorReasons.TooManyInFlight,
        $"The proxy's streams have {StreamPlaces} places, as many as they may: {_options.StreamPercent} % of {Places} (Billing:Proxy:StreamPercent).", _advice.Refused());

    private RpcException FullOfCaller(CallerShares.Share share) => Failure.Create(StatusCode.ResourceExhausted, ErrorReasons.CallerLimitReached,
        $"The caller has {share.Taken} calls in flight, as many as it may with {_shares.Callers} callers (Billing:Proxy:InFlightMax {_options.InFlightMax}, Billing:Limits:InFlightPerCaller {limits.Value.InFlightPerCaller}).", _advice.Refused());

    private void Answered(CallerShares.Share share, long? since)
    {
        if (since is { } start)
        {
            _latency!.Answered(time.GetElapsedTime(start), InFlight);
        }
        Leave(share);
    }

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
        private readonly long? _since;

        internal Admitted(Admission admission, CallerShares.Share share, long? since)
        {
            _admission = admission;
            _share = share;
            _since = since;
        }

        /// <summary>The call is answered.</summary>
        public void Dispose() => _admission.Answered(_share, _since);
    }
}
