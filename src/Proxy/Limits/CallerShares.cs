using System.Collections.Concurrent;
using Billing.Proxy.Security;

namespace Billing.Proxy.Limits;

/// <summary>How many of a proxy's places each caller has. While more than half of them are taken, a caller that has as many as
/// would be its own if all who ask had the same number gets no further one: whoever asks ten times as often is refused ten
/// times as often, and whoever asks for little always finds room.</summary>
/// <param name="perCaller">Places that a caller may have at most; 0: as many as there are.</param>
/// <param name="time">The clock.</param>
internal sealed class CallerShares(int perCaller, TimeProvider time)
{
    // Who has asked in this period, or in the one before, shares the places.
    private static readonly TimeSpan Period = TimeSpan.FromSeconds(1);

    private const int RememberedMax = 10_000;

    private readonly ConcurrentDictionary<string, Share> _shares = new(StringComparer.Ordinal);
    private readonly long _start = time.GetTimestamp();
    private readonly Lock _gate = new();
    private long _period;
    private int _asking;
    private int _askedBefore;

    /// <summary>The share of a caller, which asks for a place.</summary>
    public Share Of(Caller caller)
    {
        if (_shares.Count > RememberedMax)
        {
            Forget();
        }
        var share = _shares.GetOrAdd(caller.Id, static _ => new Share());
        Note(share);
        return share;
    }

    /// <summary>Whether a caller may have one more place.</summary>
    /// <param name="share">What it has.</param>
    /// <param name="taken">Places taken by all callers.</param>
    /// <param name="places">Places that there are.</param>
    public bool Allows(Share share, int taken, int places) => share.Taken < Limit(taken, places);

    /// <summary>Callers that have asked lately.</summary>
    public int Callers => Math.Max(Volatile.Read(ref _asking), Volatile.Read(ref _askedBefore));

    private int Limit(int taken, int places)
    {
        var most = perCaller > 0 ? Math.Min(perCaller, places) : places;
        return taken <= places / 2 ? most : Math.Min(most, Math.Max(1, places / Math.Max(1, Callers)));
    }

    private void Note(Share share)
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

    // A share that is taken from just now counts by itself until it is given back; that is a matter of one call.
    private void Forget()
    {
        foreach (var (id, share) in _shares)
        {
            if (share.Taken == 0)
            {
                _shares.TryRemove(id, out _);
            }
        }
    }

    /// <summary>What one caller has.</summary>
    internal sealed class Share
    {
        /// <summary>The period in which it asked last.</summary>
        public long Asked;

        private int _taken;

        /// <summary>Its places.</summary>
        public int Taken => Volatile.Read(ref _taken);

        /// <summary>Takes places, or gives them back where the number is negative.</summary>
        public void Add(int count) => Interlocked.Add(ref _taken, count);
    }
}
