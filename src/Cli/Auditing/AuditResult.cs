namespace Billing.Cli.Auditing;

/// <summary>What an audit found.</summary>
/// <param name="Acknowledged">Payments that a client was told are accepted or declined.</param>
/// <param name="Recorded">Of these, the ones that the store holds.</param>
/// <param name="Unanswered">Payments that a client got no answer to.</param>
/// <param name="UnansweredRecorded">Of these, the ones that the store holds.</param>
/// <param name="Lost">Acknowledged payments that the store does not hold.</param>
/// <param name="Doubled">Transactions that the store holds more than once.</param>
/// <param name="Wrong">Payments that the store holds otherwise than its client was told.</param>
public sealed record AuditResult(
    long Acknowledged, long Recorded, long Unanswered, long UnansweredRecorded,
    IReadOnlyList<string> Lost, IReadOnlyList<string> Doubled, IReadOnlyList<string> Wrong)
{
    /// <summary>Whether nothing is lost, doubled or wrong.</summary>
    public bool IsClean => Lost.Count == 0 && Doubled.Count == 0 && Wrong.Count == 0;
}
