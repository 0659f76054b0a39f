namespace Billing.Auditing;

/// <summary>Compares how many answers clients counted with how many their journals hold: an audit of a journal that is short
/// checks less than it seems to.</summary>
public static class AnswerCount
{
    /// <summary>The differences, for a person; none where the counts agree.</summary>
    /// <param name="audit">What the audit found in the journals.</param>
    /// <param name="payments">Payments that were answered, each counted once.</param>
    /// <param name="balances">Balance checks that were answered.</param>
    public static IReadOnlyList<string> Differences(AuditResult audit, long payments, long balances)
    {
        var differences = new List<string>();
        Compare("payments", payments, audit.Acknowledged);
        Compare("balance checks", balances, audit.BalancesTold);
        return differences;

        void Compare(string what, long answered, long noted)
        {
            if (answered != noted)
            {
                differences.Add(FormattableString.Invariant($"clients got {answered} answers to {what}; their journals hold {noted}"));
            }
        }
    }
}
