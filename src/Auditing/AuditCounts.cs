using System.Text.Json.Serialization;

namespace Billing.Auditing;

/// <summary>The counts of an audit in the results; the names are part of the interface.</summary>
public sealed record AuditCounts(
    long Acknowledged, long Recorded, long Lost, long Doubled, long Wrong, long Holes, long Unbalanced,
    long Accounts, long Events, long Misjudged = 0, long Miscounted = 0, long Unexplained = 0,
    long FailedYetRecorded = 0, long Reordered = 0, long Stale = 0)
{
    /// <summary>Whether the audit found no fault. Not part of the JSON, which has the counts.</summary>
    [JsonIgnore]
    public bool IsClean =>
        Lost + Doubled + Wrong + Holes + Unbalanced + Misjudged + Miscounted + Unexplained + FailedYetRecorded
        + Reordered + Stale == 0;

    /// <summary>Returns the counts of an audit.</summary>
    /// <param name="audit">The result of the audit.</param>
    /// <param name="miscounted">Number of kinds of answers whose count at the clients differs from that in the event
    /// store or the journals.</param>
    public static AuditCounts Of(AuditResult audit, int miscounted = 0) => new(
        audit.Acknowledged, audit.Recorded, audit.Lost.Count, audit.Doubled.Count, audit.Wrong.Count, audit.Holes.Count,
        audit.Unbalanced.Count, audit.Accounts, audit.Events, audit.Misjudged.Count, miscounted,
        audit.Unexplained.Count, audit.FailedYetRecorded.Count, audit.Reordered.Count, audit.Stale.Count);
}
