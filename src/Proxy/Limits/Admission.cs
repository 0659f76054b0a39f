using Billing.Contracts;
using Billing.Proxy.Failures;
using Billing.Proxy.Memory;
using Billing.Proxy.Security;
using Grpc.Core;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Limits;

/// <summary>Admission control: counts the calls in flight and decides whether the proxy admits another. Refusing early
/// keeps the latency of admitted calls normal. A stream of payments takes one place for each payment in flight, and at
/// least one. All streams together have a share of the places that they cannot exceed, so that single calls always find
/// places; the streams of one caller have no more of that share than all streams leave free, so that those of others
/// always find places too. Callers share the places fairly (<see cref="CallerShares"/>). A place is memory for an
/// ordinary call: a call with a larger message takes more of them, and there are no more than memory allows.</summary>
internal sealed class Admission(
    IOptions<ProxyOptions> options, IOptions<LimitOptions> limits, TimeProvider time, ProxyMemory memory)
    : IDisposable
{
    private readonly ProxyOptions _options = options.Value;
    private readonly CancellationTokenSource _closing = new();
    private readonly CallerShares _shares = new(limits.Value, time);
    private readonly RetryAdvice _advice = new(options.Value.RetryAfter, time);
    private readonly LatencyLimit? _latency = options.Value.LatencyTarget > TimeSpan.Zero
        ? new LatencyLimit(memory.Calls, options.Value.LatencyTarget, time)
        : null;

    private int _inFlight;
    private int _ofStreams;

    /// <summary>Number of places taken: by calls in flight, open streams, and the streams'
    /// payments in flight.</summary>
    public int InFlight => Volatile.Read(ref _inFlight);

    /// <summary>The limit on places: fewer than <see cref="ProxyOptions.InFlightMax"/> if there is no memory for them,
    /// or if calls would otherwise not be answered within <see cref="ProxyOptions.LatencyTarget"/>.</summary>
    public int Places => _latency?.Current ?? memory.Calls;

    /// <summary>The calls per second that a caller may make; 0 for any number.</summary>
    public int CallerRate => limits.Value.RequestsPerSecond;

    private int StreamPlaces => Math.Max(1, (int)((long)Places * _options.StreamPercent / 100));

    /// <summary>Cancelled when the proxy begins to shut down: a stream then answers the payments it has read,
    /// and ends.</summary>
    public CancellationToken Closing => _closing.Token;

    /// <summary>When a stream that a request opens now has to end.</summary>
    public StreamEnd EndOf(HttpContext http) => new(http, time, Closing);

    public int OfStreams => Volatile.Read(ref _ofStreams);

    /// <summary>What a caller has.</summary>
    public CallerShares.Share ShareOf(Caller caller) => _shares.Of(caller);

    /// <summary>Takes memory for a page of a statement; dispose of the result when the page is sent.</summary>
    /// <returns>RESOURCE_EXHAUSTED if the caller has too many pages that are not sent.</returns>
    public Outcome<MemoryPart.Piece> HoldPage(Caller caller)
    {
        var page = new MemoryPart.Piece(memory.Answers, _shares.Of(caller).Answers);
        return page.TryGrow(ProxyMemory.PageBytes) ? page : Failure.OutOfMemory("caller", "unread statements");
    }

    /// <summary>Admits a call; dispose of the result when the call ends. Its duration counts towards the latency target
    /// if it is timed: not if it depends on how fast the caller reads.</summary>
    /// <param name="caller">Who calls.</param>
    /// <param name="isTimed">Whether its duration counts.</param>
    /// <param name="wanted">The places that it takes.</param>
    /// <returns>The place of the call; or RESOURCE_EXHAUSTED if there are too many calls already, or too many of this
    /// caller, UNAVAILABLE if the proxy is shutting down.</returns>
    public Outcome<Admitted> Enter(Caller caller, bool isTimed = true, int wanted = 1)
    {
        var share = _shares.Of(caller);
        if (share.Tokens?.Take() is { } wait)
        {
            return TooFast(wait);
        }
        _shares.Note(share);
        var taken = InFlight;
        var places = Places;
        if (taken < places && !_shares.Allows(share, taken, places))
        {
            return FullOfCaller(share);
        }
        if (!TryTake(ref _inFlight, places, wanted))
        {
            return Full();
        }
        _advice.Admitted();
        share.Add(wanted);
        if (_closing.IsCancellationRequested)
        {
            Leave(share, wanted);
            return Closed();
        }
        return new Admitted(this, share, wanted, _latency is null || !isTimed ? null : time.GetTimestamp());
    }

    /// <summary>Takes the first place of a stream.</summary>
    /// <returns>The share of its caller, from which its further places come; or RESOURCE_EXHAUSTED if too
    /// many places are taken already, by all calls, by streams or by this caller, UNAVAILABLE if the proxy
    /// is shutting down.</returns>
    public Outcome<CallerShares.Share> EnterStream(Caller caller)
    {
        var share = _shares.Of(caller);
        _shares.Note(share);
        if (!TryGrowStream(share))
        {
            return OfStreams >= StreamPlaces ? FullOfStreams()
                : InFlight >= Places ? Full()
                : share.OfStreams >= StreamPlaces - OfStreams ? FullOfCallersStreams(share)
                : FullOfCaller(share);
        }
        if (_closing.IsCancellationRequested)
        {
            ShrinkStream(share, 1);
            return Closed();
        }
        return share;
    }

    /// <summary>Takes one more place for a stream, if there is a free one.</summary>
    public bool TryGrowStream(CallerShares.Share share)
    {
        var places = Places;
        if (!_shares.Allows(share, InFlight, places) || !TryTakeOfStreams(share))
        {
            return false;
        }
        if (TryTake(ref _inFlight, places, 1))
        {
            share.Add(1);
            return true;
        }
        ReleaseOfStreams(share, 1);
        return false;
    }

    /// <summary>Takes further places for a large message of a stream, which has one for it.</summary>
    /// <returns>Dispose of it when the message is answered; or RESOURCE_EXHAUSTED.</returns>
    public Outcome<Admitted> Widen(Caller caller, int wanted)
    {
        var share = _shares.Of(caller);
        if (!_shares.Allows(share, InFlight, Places))
        {
            return FullOfCaller(share);
        }
        if (!TryTake(ref _inFlight, Places, wanted))
        {
            return Full();
        }
        share.Add(wanted);
        return new Admitted(this, share, wanted, null);
    }

    public void ShrinkStream(CallerShares.Share share, int places)
    {
        share.Add(-places);
        Interlocked.Add(ref _inFlight, -places);
        ReleaseOfStreams(share, places);
    }

    /// <summary>Refuses every further call, and signals the streams to end.</summary>
    public void Close() => _closing.Cancel();

    /// <summary>The failure of a call or stream that is refused or ended because the proxy is shutting down.</summary>
    public static Failure Closed() =>
        new(StatusCode.Unavailable, ErrorReasons.ShuttingDown, "The proxy is shutting down.");

    public void Dispose() => _closing.Dispose();

    // A call over the limit is never counted, not even for a moment: a refused call must not make
    // concurrent ones be refused.
    // Where all places are fewer than a large message takes, it takes all of them.
    private static bool TryTake(ref int taken, int max, int wanted)
    {
        int before;
        do
        {
            before = Volatile.Read(ref taken);
            if (before > max - Math.Min(wanted, max))
            {
                return false;
            }
        }
        while (Interlocked.CompareExchange(ref taken, before + wanted, before) != before);
        return true;
    }

    private bool TryTakeOfStreams(CallerShares.Share share)
    {
        // One stream of a caller after the other: together they must not pass the limit either.
        lock (share)
        {
            if (share.OfStreams >= StreamPlaces - OfStreams || !TryTake(ref _ofStreams, StreamPlaces, 1))
            {
                return false;
            }
            share.AddOfStreams(1);
            return true;
        }
    }

    private void ReleaseOfStreams(CallerShares.Share share, int places)
    {
        share.AddOfStreams(-places);
        Interlocked.Add(ref _ofStreams, -places);
    }

    private Failure Full() => Refused(ErrorReasons.TooManyInFlight,
        $"The proxy already has its limit of {Places} calls in flight "
            + $"({(_latency is null ? "Billing:Proxy:InFlightMax, or its memory" : "Billing:Proxy:LatencyTarget")}).");

    private Failure FullOfStreams() => Refused(ErrorReasons.TooManyInFlight,
        $"The proxy's streams already have their limit of {StreamPlaces} places: "
            + $"{_options.StreamPercent} % of {Places} (Billing:Proxy:StreamPercent).");

    private Failure FullOfCallersStreams(CallerShares.Share share) => Refused(ErrorReasons.CallerLimitReached,
        $"The caller's streams already have {share.OfStreams} of the streams' {StreamPlaces} places, "
            + "no fewer than are free (Billing:Proxy:StreamPercent).");

    private Failure FullOfCaller(CallerShares.Share share) => Refused(ErrorReasons.CallerLimitReached,
        $"The caller already has {share.Taken} calls in flight, its limit with {_shares.Callers} active callers "
            + $"(Billing:Proxy:InFlightMax {_options.InFlightMax}, Billing:Limits:InFlightPerCaller "
            + $"{limits.Value.InFlightPerCaller}).");

    private Failure Refused(string reason, string message) =>
        new(StatusCode.ResourceExhausted, reason, message) { RetryAfter = _advice.Refused() };

    // In whole milliseconds, as it is told to the caller: one that comes back then must not be too early.
    private Failure TooFast(TimeSpan wait) => new(
        StatusCode.ResourceExhausted, ErrorReasons.CallerLimitReached,
        $"The caller may make {limits.Value.RequestsPerSecond} calls per second (Billing:Limits:RequestsPerSecond).")
    {
        RetryAfter = TimeSpan.FromMilliseconds(Math.Ceiling(wait.TotalMilliseconds)),
    };

    private void Answered(CallerShares.Share share, int places, long? since)
    {
        if (since is { } start)
        {
            _latency!.Answered(time.GetElapsedTime(start), InFlight);
        }
        Leave(share, places);
    }

    private void Leave(CallerShares.Share share, int places)
    {
        share.Add(-places);
        Interlocked.Add(ref _inFlight, -places);
    }

    /// <summary>The place of an admitted call. It is taken until the call has ended and each of its commands is
    /// answered: a backend processes a command whether or not the caller still waits, so a caller that goes makes no
    /// room for another call.</summary>
    internal sealed class Admitted(Admission admission, CallerShares.Share share, int places, long? since)
        : IDisposable
    {
        private int _holds = 1;

        /// <summary>Holds the place for a command of the call; dispose of the result when the command is
        /// answered.</summary>
        public Admitted Hold()
        {
            Interlocked.Increment(ref _holds);
            return this;
        }

        /// <summary>Ends one hold of the place; the last one releases it.</summary>
        public void Dispose()
        {
            if (Interlocked.Decrement(ref _holds) == 0)
            {
                admission.Answered(share, places, since);
            }
        }
    }
}
