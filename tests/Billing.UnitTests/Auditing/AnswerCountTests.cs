using Billing.Auditing;

namespace Billing.UnitTests.Auditing;

public sealed class AnswerCountTests
{
    [Fact]
    public void Journals_with_every_answer_have_no_differences() =>
        Assert.Empty(
            AnswerCount.Differences(AuditResults.Clean(acknowledged: 18_000, balancesTold: 1_500), 18_000, 1_500));

    [Fact]
    public void A_missing_payment_in_the_journal_is_found() => Assert.Equal(
        ["clients received 18000 answers to payments; their journals contain 17999"],
        AnswerCount.Differences(AuditResults.Clean(acknowledged: 17_999, balancesTold: 1_500), 18_000, 1_500));

    [Fact]
    public void A_missing_balance_in_the_journal_is_found() => Assert.Equal(
        ["clients received 1500 balances in other answers; their journals contain 0"],
        AnswerCount.Differences(AuditResults.Clean(acknowledged: 18_000), 18_000, 1_500));
}
