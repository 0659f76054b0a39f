using System.Collections.Concurrent;
using Billing.Proxy.Security;

namespace Billing.Proxy.Limits;

/// <summary>Shares a proxy's places between callers. While more than half of the places are taken, no caller gets more than an
/// equal share among the active callers. So a caller that sends too many calls has its own calls refused, and a caller that
/// sends few always finds a place.</summary>
/// <param name="perCaller">The most places that a caller may have; 0 for no limit.</param>
/// <param name="time">The clock.</param>
internal sealed class CallerShares(int perCaller, TimeProvider time)
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

    /// <summary>The share of a caller, which counts as active from now on.</summary>
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
    /// <param name="share">The caller's share.</param>
    /// <param name="taken">Number of places taken by all callers.</param>
    /// <param name="places">Number of places in total.</param>
    public bool Allows(Share share, int taken, int places) => share.Taken < Limit(taken, places);

    /// <summary>Number of active callers.</summary>
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

    // A share that takes a place just now, while it is removed, is counted separately until that place is released: the error
    // lasts no longer than one call.
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

    /// <summary>The places of one caller.</summary>
    internal sealed class Share
    {
        /// <summary>The period of the caller's last call.</summary>
        public long Asked;

        private int _taken;
        private int _ofStreams;

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
