using System.Globalization;

namespace Billing.Backends.Payments;

/// <summary>How long the pending access to a database of the event store has taken, and for how long
/// callers wait for one.</summary>
internal sealed class StoreWait(TimeProvider time, TimeSpan patience, string database)
{
    // When the pending access began; 0 if none is pending.
    private long _began;

    /// <summary>Whether it takes longer than callers wait.</summary>
    public bool IsTooLong => Takes >= patience;

    /// <summary>Whoever has waited since this moment has waited long enough.</summary>
    public long PatienceBegan => time.GetTimestamp() - (long)(patience.TotalSeconds * time.TimestampFrequency);

    /// <summary>Not ready from the moment callers are answered that the store is unavailable until it
    /// responds.</summary>
    public string? NotReadyReason => Takes is var takes && takes >= patience
        ? string.Create(
            CultureInfo.InvariantCulture,
            $"the database {database} of the event store has not answered for {takes.TotalSeconds:0} s")
        : null;

    private TimeSpan Takes =>
        Volatile.Read(ref _began) is not 0 and var began ? time.GetElapsedTime(began) : TimeSpan.Zero;

    public void Begin() => Volatile.Write(ref _began, time.GetTimestamp());

    public void End() => Volatile.Write(ref _began, 0);
}
