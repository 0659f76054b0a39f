namespace Billing.Auditing;

/// <summary>Compares the number of answers that clients counted with the number in their journals, because an audit of
/// an incomplete journal checks less than it seems to.</summary>
public static class AnswerCount
{
    /// <summary>Returns the differences as text; none if the counts are equal.</summary>
    /// <param name="audit">The result of the audit of the journals.</param>
    /// <param name="payments">Number of answered payments, each counted once.</param>
    /// <param name="balances">Number of balances in other answers.</param>
    public static IReadOnlyList<string> Differences(AuditResult audit, long payments, long balances)
    {
        var differences = new List<string>();
        Compare("answers to payments", payments, audit.Acknowledged);
        Compare("balances in other answers", balances, audit.BalancesInAnswers);
        return differences;

        void Compare(string answers, long counted, long journalled)
        {
            if (counted != journalled)
            {
                differences.Add(FormattableString.Invariant($"clients received {counted} {answers}; ")
                    + FormattableString.Invariant($"their journals contain {journalled}"));
            }
        }
    }
}
