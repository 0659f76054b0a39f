using System.Text.Json.Serialization;

namespace Billing.Auditing;

/// <summary>What an audit found, as results keep it; the names are part of the interface.</summary>
public sealed record AuditCounts(
    long Acknowledged, long Recorded, long Lost, long Doubled, long Wrong, long Holes, long Unbalanced, long Accounts, long Events,
    long Misjudged = 0, long Miscounted = 0)
{
    /// <summary>Whether the audit found nothing amiss. Not part of the JSON, which has the counts.</summary>
    [JsonIgnore]
    public bool IsClean => Lost + Doubled + Wrong + Holes + Unbalanced + Misjudged + Miscounted == 0;

    /// <summary>Of an audit.</summary>
    /// <param name="audit">What the audit found.</param>
    /// <param name="miscounted">Kinds of answers of which clients counted another number than the books or journals hold.</param>
    public static AuditCounts Of(AuditResult audit, int miscounted = 0) => new(
        audit.Acknowledged, audit.Recorded, audit.Lost.Count, audit.Doubled.Count, audit.Wrong.Count, audit.Holes.Count,
        audit.Unbalanced.Count, audit.Accounts, audit.Events, audit.Misjudged.Count, miscounted);
}
