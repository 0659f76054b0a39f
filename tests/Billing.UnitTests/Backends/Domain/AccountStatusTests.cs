using Billing.Backends.Domain;
using Billing.UnitTests.Testing;
using Billing.V1;

namespace Billing.UnitTests.Backends.Domain;

public sealed class AccountStatusTests
{
    private static readonly DateTimeOffset Now = new(2026, 1, 31, 12, 0, 0, TimeSpan.Zero);
    private static readonly Account Opened = Limits.Opened(100);

    [Theory]
    [InlineData(AccountStatus.Frozen, DeclineReason.AccountFrozen)]
    [InlineData(AccountStatus.Closed, DeclineReason.AccountClosed)]
    public void Payments_and_authorisations_of_an_account_that_is_not_open_are_declined_until_it_is_open_again(
        AccountStatus status, DeclineReason reason)
    {
        var account = With(Opened, status);

        Assert.Equal(
            reason, Assert.IsType<PaymentDeclined>(new Payment(Guid.NewGuid(), 1, "USD").Decide(account, Now)).Reason);
        // Also one that would be declined anyway.
        Assert.Equal(
            reason, Assert.IsType<AuthorisationDeclined>(Authorise(200).Decide(account, null, Now).Event).Reason);
        Assert.IsType<PaymentAccepted>(
            new Payment(Guid.NewGuid(), 1, "USD").Decide(With(account, AccountStatus.Open), Now));
    }

    [Fact]
    public void All_else_of_a_frozen_account_goes_on_and_every_event_states_that_it_is_frozen()
    {
        var (paid, held) = (new Payment(Guid.NewGuid(), 10, "USD"), Authorise(20));
        var account = Opened.Apply(paid.Decide(Opened, Now));
        var payment = PaymentState.Of(paid.Decide(Opened, Now))!;
        var authorised = held.Decide(account, null, Now).Event!;
        var hold = PaymentState.Of(authorised)!;
        account = With(account.Apply(authorised), AccountStatus.Frozen);

        AccountEvent?[] events =
        [
            new Refund(Guid.NewGuid(), paid.TransactionId, 1, "USD").Decide(account, payment, Now).Event,
            new Capture(Guid.NewGuid(), held.TransactionId, 1, "USD", IsFinal: false).Decide(account, hold, Now).Event,
            new Voiding(Guid.NewGuid(), held.TransactionId).Decide(account, hold, Now).Event,
            new Expiring(Guid.NewGuid(), held.TransactionId, Now.AddHours(1)).Decide(account, hold, Now).Event,
            new CreditLimitChange(Guid.NewGuid(), 1, "USD").Decide(account, null, Now).Event,
            paid.Decide(account, Now),
            held.Decide(account, null, Now).Event,
        ];

        Assert.All(events, fact =>
        {
            Assert.Equal(AccountStatus.Frozen, fact!.Status);
            Assert.Equal(AccountStatus.Frozen, account.Apply(fact).Status);
        });
    }

    [Fact]
    public void An_account_that_owes_something_or_has_something_on_hold_is_not_closed()
    {
        var (paid, held) = (new Payment(Guid.NewGuid(), 10, "USD"), Authorise(20));
        var owing = Opened.Apply(paid.Decide(Opened, Now));
        var holding = Opened.Apply(held.Decide(Opened, null, Now).Event!);
        var refunded = owing.Apply(new Refund(Guid.NewGuid(), paid.TransactionId, 10, "USD")
            .Decide(owing, PaymentState.Of(paid.Decide(Opened, Now)), Now).Event!);

        Assert.Equal(new Refusal.NotEmpty(10, 0, "USD"), Change(AccountStatus.Closed).Decide(owing, null, Now).Refusal);
        Assert.Equal(
            new Refusal.NotEmpty(0, 20, "USD"), Change(AccountStatus.Closed).Decide(holding, null, Now).Refusal);
        Assert.Equal(AccountStatus.Closed, With(refunded, AccountStatus.Closed).Status);
        Assert.Equal(AccountStatus.Frozen, With(holding, AccountStatus.Frozen).Status);
    }

    [Fact]
    public void A_change_of_the_status_leaves_all_else_as_it_is()
    {
        var account = Opened.Apply(new Payment(Guid.NewGuid(), 10, "USD").Decide(Opened, Now)) with { OnHold = 5 };

        var changed = Assert.IsType<AccountStatusChanged>(
            Change(AccountStatus.Frozen).Decide(account, null, Now).Event);

        Assert.Equal((10m, 5m, "USD"), (changed.Balance, changed.OnHold, changed.KeptIn));
        Assert.Equal(account with { Version = 2, Status = AccountStatus.Frozen }, account.Apply(changed));
    }

    private static Account With(Account account, AccountStatus status) =>
        account.Apply(Change(status).Decide(account, null, Now).Event!);

    private static AccountStatusChange Change(AccountStatus status) => new(Guid.NewGuid(), status);

    private static Authorisation Authorise(decimal amount) => new(Guid.NewGuid(), amount, "USD", TimeSpan.FromHours(1));
}
