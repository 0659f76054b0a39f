using Billing.Backends.Domain;
using Billing.UnitTests.Testing;
using Billing.V1;
using FsCheck.Fluent;

namespace Billing.UnitTests.Backends.Domain;

public sealed class RefundTests
{
    private static readonly DateTimeOffset Now = new(2026, 1, 31, 12, 0, 0, TimeSpan.Zero);
    private static readonly PaymentState Paid = new("USD", Charged: 100, Refunded: 0, Held: 0, IsDeclined: false);
    private static readonly Account Owing = new(1, 100, 1_000, "USD");

    [Fact]
    public void Refunds_are_never_more_than_the_payment_together_and_lower_the_balance_by_their_sum() =>
        Gen.Choose(1, 6_000).ListOf().Holds(cents =>
        {
            var (account, payment, recorded) = (Owing, Paid, new List<PaymentRefunded>());
            foreach (var amount in cents.Select(c => c / 100m))
            {
                var decision = Refund(amount).Decide(account, payment, Now);
                if (decision.Event is PaymentRefunded refunded)
                {
                    recorded.Add(refunded);
                    (account, payment) = (account.Apply(refunded), payment.After(refunded));
                }
                else
                {
                    Assert.Equal(new Refusal.MoreThanIsLeft(100 - payment.Refunded), decision.Refusal);
                    Assert.True(amount > 100 - payment.Refunded);
                }
            }
            var sum = recorded.Sum(r => r.Amount);
            Assert.InRange(sum, 0, 100);
            Assert.Equal((100 - sum, 1 + recorded.Count), (account.Balance, account.Version));
            Assert.All(recorded, (r, i) => Assert.Equal(recorded.Take(i + 1).Sum(other => other.Amount), r.Refunded));
        });

    [Fact]
    public void A_whole_payment_is_given_back() =>
        Assert.Equal((100m, 0m), (
            ((PaymentRefunded)Refund(100).Decide(Owing, Paid, Now).Event!).Refunded,
            Refund(100).Decide(Owing, Paid, Now).Event!.Balance));

    [Fact]
    public void A_payment_that_is_not_there_a_declined_one_and_another_currency_are_refused()
    {
        Assert.Equal(new Refusal.NoSuchPayment(), Refund(1).Decide(Owing, null, Now).Refusal);
        Assert.Equal(
            new Refusal.PaymentWasDeclined(),
            Refund(1).Decide(Owing, Paid with { Charged = 0, IsDeclined = true }, Now).Refusal);
        Assert.Equal(
            new Refusal.OtherCurrency("EUR"), Refund(1).Decide(Owing, Paid with { Currency = "EUR" }, Now).Refusal);
    }

    [Fact]
    public void Only_a_payment_can_be_followed_up()
    {
        Assert.Null(PaymentState.Of(null));
        Assert.Null(PaymentState.Of(new CreditLimitChanged(Guid.NewGuid(), 1, "USD", Now) { Balance = 0 }));
        Assert.Null(PaymentState.Of(Refund(1).Decide(Owing, Paid, Now).Event));
        var declined =
            new PaymentDeclined(Guid.NewGuid(), 1, "USD", DeclineReason.CreditLimitExceeded, Now) { Balance = 0 };
        Assert.True(PaymentState.Of(declined)!.IsDeclined);
    }

    private static Refund Refund(decimal amount) => new(Guid.NewGuid(), Guid.NewGuid(), amount, "USD");
}
