namespace Billing.Simulation;

/// <summary>A process's connection to the brokers or to the event store, which a fault may cut.</summary>
internal sealed class Link(Scheduler scheduler)
{
    private long _from;
    private long _until;
    private long _period;

    /// <summary>Whether nothing comes through at the moment.</summary>
    public bool IsCut => scheduler.Now < _until && (_period == 0 || (scheduler.Now - _from) / _period % 2 == 0);

    /// <summary>The next moment when something comes through; now if it is not cut.</summary>
    public long HealsAt => !IsCut ? scheduler.Now
        : _period == 0 ? _until
        : Math.Min(_until, _from + ((((scheduler.Now - _from) / _period) + 1) * _period));

    /// <summary>Cuts the connection for a time.</summary>
    /// <param name="time">How long.</param>
    /// <param name="period">After so long it holds for as long, and so on; zero if it is cut all the time.</param>
    public void Cut(TimeSpan time, TimeSpan period)
    {
        if (_until == long.MaxValue)
        {
            return;
        }
        (_from, _period) = (scheduler.Now, period.Ticks);
        _until = time == TimeSpan.MaxValue ? long.MaxValue : scheduler.Now + time.Ticks;
    }
}
