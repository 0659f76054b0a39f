using Billing.Contracts;
using Billing.V1;

namespace Billing.IntegrationTests.Services;

/// <summary>Accounts whose limit nobody has set: what they may owe depends on the currency, by the settings.</summary>
[Collection(InOneProcess.Name)]
public sealed class UnopenedAccounts(EmbeddedStack stack)
{
    // The settings of the stack have a limit for these, and none for francs.
    [Theory]
    [InlineData("USD", 10_000)]
    [InlineData("EUR", 10_000)]
    [InlineData("CHF", 0)]
    public async Task A_payment_and_a_hold_have_the_limit_of_their_currency(string currency, int limit)
    {
        var (payment, hold) = (StackFixture.Payment(amount: limit + 1, currency: currency), StackFixture.NewAccount());
        var above = await stack.Proxy().MakePaymentAsync(payment);
        var held = await stack.Proxy().AuthorisePaymentAsync(new()
        {
            TransactionId = Guid.NewGuid().ToString(),
            AccountId = hold,
            PaymentType = PaymentType.Visa,
            Amount = ((decimal)limit + 1).ToMoney(currency),
        });
        var nothing = await BalanceAsync(payment.AccountId, above.Version);

        Assert.Equal(
            (PaymentOutcome.Declined, DeclineReason.CreditLimitExceeded), (above.Outcome, above.DeclineReason));
        Assert.Equal((PaymentOutcome.Declined, DeclineReason.CreditLimitExceeded), (held.Outcome, held.DeclineReason));
        Assert.Equal(("", 0, 0), Limits(nothing));
        if (limit > 0)
        {
            var paid = await stack.Proxy().MakePaymentAsync(
                StackFixture.Payment(payment.AccountId, limit - 1, currency));
            Assert.Equal(PaymentOutcome.Accepted, paid.Outcome);
            Assert.Equal((currency, limit, 1), Limits(await BalanceAsync(payment.AccountId, paid.Version)));
        }
    }

    [Fact]
    public async Task An_account_that_never_paid_has_no_currency_and_no_limit_and_one_with_a_limit_has_that()
    {
        var account = StackFixture.NewAccount();
        var never = await BalanceAsync(account, 0);
        var set = await stack.Admin().SetCreditLimitAsync(new(
            new(Client.CardNetwork.Visa, account), new Client.Amount(7, "CHF")));
        var paid = await stack.Proxy().MakePaymentAsync(StackFixture.Payment(account, 6, "CHF"));

        Assert.Equal(("", 0, 0), Limits(never));
        Assert.NotNull(set.Accepted);
        Assert.Equal(PaymentOutcome.Accepted, paid.Outcome);
        Assert.Equal(("CHF", 7, 1), Limits(await BalanceAsync(account, paid.Version)));
    }

    private async Task<CheckBalanceResponse> BalanceAsync(string account, long version) =>
        await stack.Proxy().CheckBalanceAsync(
            new() { AccountId = account, PaymentType = PaymentType.Visa, MinVersion = version });

    private static (string Currency, decimal Limit, decimal Available) Limits(CheckBalanceResponse balance) =>
        (balance.CreditLimit.CurrencyCode, balance.CreditLimit.ToDecimal(), balance.Available.ToDecimal());
}
