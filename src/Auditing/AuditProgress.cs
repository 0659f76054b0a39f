namespace Billing.Auditing;

/// <summary>The progress of a part of an audit.</summary>
/// <param name="Part">The part as text for the console, e.g. "Events".</param>
/// <param name="Done">The finished amount, in the unit of <paramref name="Total"/>.</param>
/// <param name="Total">The total amount, possibly an estimate.</param>
public readonly record struct AuditProgress(string Part, long Done, long Total);

/// <summary>Counts the progress of one part of an audit and reports it after every <see cref="Step"/> items.</summary>
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
