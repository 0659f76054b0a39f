using Billing.Backends.Domain;
using Billing.UnitTests.Testing;
using Billing.V1;
using FsCheck.Fluent;

namespace Billing.UnitTests.Backends.Domain;

public sealed class HoldTests
{
    private static readonly DateTimeOffset Now = new(2026, 1, 31, 12, 0, 0, TimeSpan.Zero);
    private static readonly Account Opened = Limits.Opened(100);

    [Fact]
    public void A_hold_lowers_what_is_available_and_not_the_balance()
    {
        var (account, _) = Authorised(60);

        Assert.Equal((0m, 60m, 40m), (account.Balance, account.OnHold, account.Available));
        Assert.Equal(Now.AddHours(1), ((PaymentAuthorised)Authorise(60).Decide(Opened, null, Now).Event!).ExpiresAt);
    }

    [Fact]
    public void A_hold_counts_in_every_check_of_the_limit()
    {
        var (account, _) = Authorised(60);

        Assert.Equal(
            DeclineReason.CreditLimitExceeded,
            Assert.IsType<AuthorisationDeclined>(Authorise(40.01m).Decide(account, null, Now).Event).Reason);
        Assert.Equal(
            DeclineReason.CreditLimitExceeded,
            Assert.IsType<PaymentDeclined>(new Payment(Guid.NewGuid(), 40.01m, "USD").Decide(account, Now)).Reason);
        Assert.IsType<PaymentAccepted>(new Payment(Guid.NewGuid(), 40, "USD").Decide(account, Now));
    }

    [Fact]
    public void Captures_are_never_more_than_the_hold_together_and_what_they_leave_expires_once() =>
        Gen.Choose(1, 5_000).ListOf().Holds(cents =>
        {
            var (account, payment) = Authorised(60);
            foreach (var amount in cents.Select(c => c / 100m))
            {
                Follow(ref account, ref payment, Capture(amount).Decide(account, payment, Now));
            }
            var charged = payment.Charged;
            Follow(ref account, ref payment, Expire(Now.AddHours(1)).Decide(account, payment, Now));
            var again = Expire(Now.AddHours(2)).Decide(account, payment, Now);

            Assert.InRange(charged, 0, 60);
            Assert.Equal((charged, charged, 0m, 0m), (payment.Charged, account.Balance, payment.Held, account.OnHold));
            Assert.Equal(new Refusal.NothingOnHold(), again.Refusal);
        });

    [Fact]
    public void A_final_capture_releases_the_rest()
    {
        var (account, payment) = Authorised(60);

        Follow(ref account, ref payment, Capture(20, isFinal: true).Decide(account, payment, Now));

        Assert.Equal((20m, 0m, 80m), (account.Balance, account.OnHold, account.Available));
        Assert.Equal(new Refusal.NothingOnHold(), Capture(1).Decide(account, payment, Now).Refusal);
        Assert.Equal(new Refusal.NothingOnHold(), Void().Decide(account, payment, Now).Refusal);
    }

    [Fact]
    public void What_is_voided_cannot_be_captured_and_what_was_captured_before_can_be_given_back()
    {
        var (account, payment) = Authorised(60);
        Follow(ref account, ref payment, Capture(20).Decide(account, payment, Now));

        Follow(ref account, ref payment, Void().Decide(account, payment, Now));

        Assert.Equal((20m, 0m), (account.Balance, account.OnHold));
        Assert.Equal(new Refusal.NothingOnHold(), Capture(1).Decide(account, payment, Now).Refusal);
        Assert.Equal(new Refusal.MoreThanIsLeft(20), Refund(20.01m).Decide(account, payment, Now).Refusal);
        Follow(ref account, ref payment, Refund(20).Decide(account, payment, Now));
        Assert.Equal((0m, 20m), (account.Balance, payment.Refunded));
    }

    [Fact]
    public void A_hold_stands_until_its_expiry_is_recorded_whatever_clocks_say_and_nothing_expires_before_its_time()
    {
        var (account, payment) = Authorised(60);
        var over = Now.AddHours(1);

        Assert.IsType<PaymentCaptured>(Capture(1).Decide(account, payment, over.AddDays(1)).Event);
        Assert.IsType<AuthorisationVoided>(Void().Decide(account, payment, over.AddDays(1)).Event);
        Assert.Equal(
            new Refusal.NothingOnHold(), Expire(over.AddTicks(-1)).Decide(account, payment, over.AddDays(1)).Refusal);
        Assert.IsType<AuthorisationExpired>(Expire(over).Decide(account, payment, Now).Event);
    }

    [Fact]
    public void A_capture_that_does_not_fit_its_payment_is_refused()
    {
        var (account, payment) = Authorised(60);
        var paid = new PaymentState("USD", Charged: 10, Refunded: 0, Held: 0, IsDeclined: false);

        Assert.Equal(new Refusal.MoreThanIsHeld(60), Capture(60.01m).Decide(account, payment, Now).Refusal);
        Assert.Equal(
            new Refusal.OtherCurrency("USD"),
            (Capture(1) with { Currency = "EUR" }).Decide(account, payment, Now).Refusal);
        Assert.Equal(new Refusal.NoSuchPayment(), Capture(1).Decide(account, null, Now).Refusal);
        Assert.Equal(new Refusal.NoSuchPayment(), Expire(Now).Decide(account, null, Now).Refusal);
        Assert.Equal(new Refusal.NothingOnHold(), Capture(1).Decide(account, paid, Now).Refusal);
        Assert.Equal(
            new Refusal.PaymentWasDeclined(),
            Void().Decide(account, paid with { Charged = 0, IsDeclined = true }, Now).Refusal);
    }

    private static (Account Account, PaymentState Payment) Authorised(decimal amount)
    {
        var fact = Authorise(amount).Decide(Opened, null, Now).Event!;
        return (Opened.Apply(fact), PaymentState.Of(fact)!);
    }

    // An event states the amounts of the account that it leads to.
    private static void Follow(ref Account account, ref PaymentState payment, Decision decision)
    {
        if (decision.Event is PaymentFollowUp fact)
        {
            (account, payment) = (account.Apply(fact), payment.After(fact));
            Assert.Equal((account.Balance, account.OnHold), (fact.Balance, fact.OnHold ?? 0));
        }
    }

    private static Authorisation Authorise(decimal amount) => new(Guid.NewGuid(), amount, "USD", TimeSpan.FromHours(1));

    private static Capture Capture(decimal amount, bool isFinal = false) =>
        new(Guid.NewGuid(), Guid.NewGuid(), amount, "USD", isFinal);

    private static Voiding Void() => new(Guid.NewGuid(), Guid.NewGuid());

    private static Expiring Expire(DateTimeOffset asOf) => new(Guid.NewGuid(), Guid.NewGuid(), asOf);

    private static Refund Refund(decimal amount) => new(Guid.NewGuid(), Guid.NewGuid(), amount, "USD");
}
