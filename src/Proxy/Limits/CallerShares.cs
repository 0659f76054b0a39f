using System.Collections.Concurrent;
using Billing.Proxy.Memory;
using Billing.Proxy.Security;

namespace Billing.Proxy.Limits;

/// <summary>What each caller has of a proxy: places for its calls in flight, and tokens for its calls per
/// second. While more than half of the places are taken, no caller gets more than an equal share among the
/// active callers. So a caller that sends too many calls has its own calls refused, and a caller that sends few
/// always finds a place.</summary>
internal sealed class CallerShares(LimitOptions limits, TimeProvider time)
{
    // A caller that has made a call in this period or in the previous one counts as active.
    private static readonly TimeSpan Period = TimeSpan.FromSeconds(1);

    private const int RememberedMax = 10_000;

    private readonly ConcurrentDictionary<string, Share> _shares = new(StringComparer.Ordinal);
    private readonly long _start = time.GetTimestamp();
    private readonly Lock _gate = new();
    private long _period;
    private int _asking;
    private int _askedBefore;

    /// <summary>Number of active callers.</summary>
    public int Callers => Math.Max(Volatile.Read(ref _asking), Volatile.Read(ref _askedBefore));

    public Share Of(Caller caller)
    {
        if (_shares.TryGetValue(caller.Id, out var share))
        {
            return share;
        }
        if (_shares.Count >= RememberedMax)
        {
            Forget();
        }
        return _shares.GetOrAdd(caller.Id, _ => new Share(NewTokens()));
    }

    /// <summary>Counts a caller as active from now on.</summary>
    public void Note(Share share)
    {
        var period = 1 + (time.GetElapsedTime(_start).Ticks / Period.Ticks);
        if (period != Volatile.Read(ref _period))
        {
            Begin(period);
        }
        if (Interlocked.Exchange(ref share.Asked, period) != period)
        {
            Interlocked.Increment(ref _asking);
        }
    }

    /// <summary>Whether a caller may have one more place, if so many of all places are taken.</summary>
    public bool Allows(Share share, int taken, int places) => share.Taken < Limit(taken, places);

    private int Limit(int taken, int places)
    {
        var most = limits.InFlightPerCaller > 0 ? Math.Min(limits.InFlightPerCaller, places) : places;
        return taken <= places / 2 ? most : Math.Min(most, Math.Max(1, places / Math.Max(1, Callers)));
    }

    private void Begin(long period)
    {
        lock (_gate)
        {
            if (_period < period)
            {
                _askedBefore = _period == period - 1 ? _asking : 0;
                _asking = 0;
                _period = period;
            }
        }
    }

    private TokenBucket? NewTokens() => limits.RequestsPerSecond == 0
        ? null
        : new TokenBucket(limits.RequestsPerSecond, limits.Burst > 0 ? limits.Burst : limits.RequestsPerSecond, time);

    // An unused share is like a new one. One that is used just now, while it is removed, is counted separately until
    // its places are released, and its calls are not counted: the error lasts no longer than one call.
    private void Forget()
    {
        foreach (var (id, share) in _shares)
        {
            if (share.IsUnused && share.Tokens is null or { IsFull: true })
            {
                _shares.TryRemove(id, out _);
            }
        }
    }

    /// <summary>What one caller has.</summary>
    /// <param name="tokens">One for each call that it may make at once; null if its calls per
    /// second are not limited.</param>
    internal sealed class Share(TokenBucket? tokens = null)
    {
        /// <summary>The period of the caller's last call.</summary>
        public long Asked;

        private int _taken;
        private int _ofStreams;

        public TokenBucket? Tokens => tokens;

        /// <summary>The memory that its unfinished requests and its streams have.</summary>
        public MemoryPart.Holder Bodies { get; } = new();

        /// <summary>The memory that answers to it have.</summary>
        public MemoryPart.Holder Answers { get; } = new();

        /// <summary>Whether it has neither places nor memory.</summary>
        public bool IsUnused => Taken == 0 && Bodies.Held == 0 && Answers.Held == 0;

        /// <summary>Number of places it has.</summary>
        public int Taken => Volatile.Read(ref _taken);

        /// <summary>Number of places that its streams have.</summary>
        public int OfStreams => Volatile.Read(ref _ofStreams);

        /// <summary>Takes places, or releases them if the number is negative.</summary>
        public void Add(int count) => Interlocked.Add(ref _taken, count);

        /// <summary>Takes places for its streams, or releases them if the number is negative.</summary>
        public void AddOfStreams(int count) => Interlocked.Add(ref _ofStreams, count);
    }
}
