using Billing.Auditing;

namespace Billing.UnitTests.Auditing;

/// <summary>Example results of audits.</summary>
internal static class AuditResults
{
    public static AuditResult Clean(long acknowledged = 0, long balancesTold = 0) => new()
    {
        Accounts = 1,
        Events = acknowledged,
        Receipts = acknowledged,
        Acknowledged = acknowledged,
        Recorded = acknowledged,
        Unanswered = 0,
        UnansweredRecorded = 0,
        BalancesInAnswers = balancesTold,
        Lost = new Findings(),
        Doubled = new Findings(),
        Wrong = new Findings(),
        Holes = new Findings(),
        Unbalanced = new Findings(),
        Misjudged = new Findings(),
    };
}
