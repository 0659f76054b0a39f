using Billing.Client;
using Billing.Client.Testing;
using Billing.V1;

namespace Billing.UnitTests.Client;

public sealed class InMemoryBillingTests : BillingFacts
{
    private static readonly Payment Five = new(new CardAccount(PaymentType.Visa, "a"), new Amount(5, "USD"));

    private readonly InMemoryBilling _billing = new();

    protected override IBillingClient Billing => _billing;

    protected override IBillingAdminClient Admin => _billing;

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_retry_after_a_lost_answer_charges_once(bool recorded)
    {
        _billing.LoseNextAnswer(recorded);

        Assert.IsType<PaymentResult.Unknown>(await _billing.PayAsync(Five));
        Assert.Equal(recorded ? 5 : 0, (await _billing.GetBalanceAsync(Five.Account)).Balance.Value);
        Assert.IsType<PaymentResult.Accepted>(await _billing.PayAsync(Five));
        Assert.Equal(5, (await _billing.GetBalanceAsync(Five.Account)).Balance.Value);
    }

    [Fact]
    public async Task A_limit_whose_answer_is_lost_is_unknown_too()
    {
        _billing.LoseNextAnswer(recorded: true);
        var limit = new CreditLimit(Five.Account, new Amount(1, "USD"));

        Assert.IsType<CreditLimitResult.Unknown>(await _billing.SetCreditLimitAsync(limit));
        Assert.Equal(1, Assert.IsType<CreditLimitResult.Applied>(await _billing.SetCreditLimitAsync(limit)).Version);
    }

    [Fact]
    public async Task Accounts_may_start_with_another_limit()
    {
        Assert.IsType<PaymentResult.Declined>(await new InMemoryBilling(creditLimit: 4.99m).PayAsync(Five));
        Assert.Throws<ArgumentOutOfRangeException>(() => new InMemoryBilling(creditLimit: -1));
    }
}
