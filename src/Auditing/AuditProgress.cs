namespace Billing.Auditing;

/// <summary>How far a part of an audit is.</summary>
/// <param name="Part">What is being looked at, e.g. "Events".</param>
/// <param name="Done">How much of it is done.</param>
/// <param name="Total">How much there is to do, as far as is known.</param>
public readonly record struct AuditProgress(string Part, long Done, long Total);

/// <summary>Counts one part of an audit, and reports every few thousand.</summary>
internal sealed class AuditCounter(IProgress<AuditProgress>? progress, string part, long total)
{
    private const long Step = 1 << 13;

    private long _done;

    public long Done => Interlocked.Read(ref _done);

    public void Add()
    {
        var done = Interlocked.Increment(ref _done);
        if (done % Step == 0)
        {
            progress?.Report(new AuditProgress(part, done, total));
        }
    }

    public void Complete() => progress?.Report(new AuditProgress(part, total, total));
}
