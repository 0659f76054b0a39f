using Billing.Backends.Domain;
using Billing.V1;

namespace Billing.UnitTests.Backends.Domain;

/// <summary>What accounts may owe before a limit of their own is set, by every kind of command.</summary>
public sealed class OpeningLimitTests
{
    private static readonly DateTimeOffset Now = new(2026, 1, 31, 12, 0, 0, TimeSpan.Zero);

    private static readonly Account Opened = Account.Opened(
        new OpeningLimits(new Dictionary<string, decimal> { ["USD"] = 100, ["EUR"] = 40 }));

    [Theory]
    [InlineData("USD", 100, true)]
    [InlineData("USD", 100.01, false)]
    [InlineData("EUR", 40, true)]
    [InlineData("EUR", 40.01, false)]
    [InlineData("CHF", 0.01, false)]
    [InlineData("usd", 0.01, false)]
    public void The_first_payment_or_hold_has_the_limit_of_its_currency_and_without_one_none(
        string currency, double most, bool isAccepted)
    {
        var amount = (decimal)most;
        foreach (var command in (AccountCommand[])
        [
            new Payment(Guid.NewGuid(), amount, currency),
            new Authorisation(Guid.NewGuid(), amount, currency, TimeSpan.FromHours(1)),
        ])
        {
            var after = After(Opened, command, out var fact);

            Assert.Equal(
                isAccepted ? (DeclineReason?)null : DeclineReason.CreditLimitExceeded,
                fact is PaymentDeclined paid ? paid.Reason : (fact as AuthorisationDeclined)?.Reason);
            Assert.Equal(isAccepted ? currency : null, after.Currency);
            Assert.Equal(isAccepted ? Opened.LimitIn(currency) : 0, after.CreditLimit);
        }
    }

    [Fact]
    public void An_account_that_never_paid_has_no_limit_and_nothing_available() =>
        Assert.Equal((0, 0, null), (Opened.CreditLimit, Opened.Available, Opened.Currency));

    [Fact]
    public void A_declined_payment_leaves_the_limits_of_all_currencies()
    {
        var declined = After(Opened, new Payment(Guid.NewGuid(), 1, "CHF"), out _);

        var paid = After(declined, new Payment(Guid.NewGuid(), 40, "EUR"), out var fact);

        Assert.IsType<PaymentAccepted>(fact);
        Assert.Equal((40, 0, "EUR", 2), (paid.CreditLimit, paid.Available, paid.Currency, paid.Version));
    }

    [Fact]
    public void A_limit_that_is_set_holds_in_a_currency_without_one_and_instead_of_one()
    {
        foreach (var currency in (string[])["CHF", "USD"])
        {
            var set = After(Opened, new CreditLimitChange(Guid.NewGuid(), 7, currency), out _);

            Assert.Equal((7, currency), (set.CreditLimit, set.Currency));
            After(set, new Payment(Guid.NewGuid(), 7, currency), out var within);
            After(set, new Payment(Guid.NewGuid(), 7.01m, currency), out var above);
            Assert.IsType<PaymentAccepted>(within);
            Assert.IsType<PaymentDeclined>(above);
        }
    }

    [Fact]
    public void Refunds_captures_voidings_and_changes_of_the_status_leave_the_limit()
    {
        var (paid, held) = (new Payment(Guid.NewGuid(), 10, "EUR"),
            new Authorisation(Guid.NewGuid(), 20, "EUR", TimeSpan.FromHours(1)));
        var account = After(Opened, new AccountStatusChange(Guid.NewGuid(), AccountStatus.Frozen), out _);
        account = After(account, new AccountStatusChange(Guid.NewGuid(), AccountStatus.Open), out _);
        account = After(account, paid, out var payment);
        account = After(account, held, out var hold);
        account = After(account, new Refund(Guid.NewGuid(), paid.TransactionId, 4, "EUR"), out _, payment);
        account = After(account, new Capture(
            Guid.NewGuid(), held.TransactionId, 5, "EUR", IsFinal: false), out var capture, hold);
        var state = PaymentState.Of(hold)!.After((PaymentFollowUp)capture);
        account = After(
            account, new Voiding(Guid.NewGuid(), held.TransactionId).Decide(account, state, Now).Event!);

        Assert.Equal(
            (7, 40, 11, 0, 29),
            (account.Version, account.CreditLimit, account.Balance, account.OnHold, account.Available));
    }

    private static Account After(
        Account account, AccountCommand command, out AccountEvent fact, AccountEvent? of = null)
    {
        fact = command.Decide(account, PaymentState.Of(of), Now).Event!;
        return After(account, fact);
    }

    // As those say who apply events, and those who read them.
    private static Account After(Account account, AccountEvent fact)
    {
        var after = account.Apply(fact);
        Assert.Equal(
            after, fact.Stated(after.Version, fact is CreditLimitChanged { Limit: var limit } ? limit : null, account));
        return after;
    }
}
