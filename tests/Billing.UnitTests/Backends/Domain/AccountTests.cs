using Billing.Backends.Domain;
using Billing.UnitTests.Testing;
using Billing.V1;
using FsCheck;
using FsCheck.Fluent;

namespace Billing.UnitTests.Backends.Domain;

public sealed class AccountTests
{
    private static readonly DateTimeOffset Now = new(2026, 1, 31, 12, 0, 0, TimeSpan.Zero);

    /// <summary>Commands on an account: mostly payments, sometimes a change of the limit.</summary>
    private static readonly Gen<Func<Account, AccountEvent>> Step = Gen.Frequency(
        (5, from amount in Generate.Amount
            from id in Generate.TransactionId
            let payment = new Payment(id, (amount.Units % 5_000) + (amount.Nanos / 1e9m), amount.CurrencyCode)
            select (Func<Account, AccountEvent>)(account => payment.Decide(account, Now))),
        (1, from limit in Gen.Choose(0, 20_000)
            from currency in Generate.Currency
            from id in Generate.TransactionId
            select (Func<Account, AccountEvent>)(account =>
                new CreditLimitChanged(id, limit, currency, Now) { Balance = account.Balance })));

    private static readonly Gen<List<(Account Before, AccountEvent Fact, Account After)>> Histories =
        Step.ListOf().Select(steps =>
        {
            var account = Limits.Opened(10_000);
            var history = new List<(Account, AccountEvent, Account)>();
            foreach (var step in steps)
            {
                var fact = step(account);
                var after = account.Apply(fact);
                history.Add((account, fact, after));
                account = after;
            }
            return history;
        });

    [Fact]
    public void An_accepted_payment_never_takes_the_balance_above_the_limit() => Histories.Holds(history =>
        Assert.All(
            history.Where(h => h.Fact is PaymentAccepted), h => Assert.True(h.After.Balance <= h.After.CreditLimit)));

    [Fact]
    public void The_balance_is_the_sum_of_the_accepted_amounts() => Histories.Holds(history =>
        Assert.All(
            history.Select((h, i) =>
                (h.After, Sum: history.Take(i + 1).Select(p => p.Fact).OfType<PaymentAccepted>().Sum(p => p.Amount))),
            h => Assert.Equal(h.Sum, h.After.Balance)));

    [Fact]
    public void The_version_is_the_number_of_events() => Histories.Holds(history =>
        Assert.Equal(Enumerable.Range(1, history.Count).Select(n => (long)n), history.Select(h => h.After.Version)));

    [Fact]
    public void The_first_acceptance_or_limit_fixes_the_currency_permanently() => Histories.Holds(history =>
    {
        var first = history.Select(h => h.Fact).FirstOrDefault(f => f is not PaymentDeclined);
        var expected = (first as PaymentAccepted)?.Currency ?? (first as CreditLimitChanged)?.Currency;
        Assert.All(history.SkipWhile(h => h.Fact is PaymentDeclined), h => Assert.Equal(expected, h.After.Currency));
        Assert.All(history.TakeWhile(h => h.Fact is PaymentDeclined), h => Assert.Null(h.After.Currency));
    });

    [Fact]
    public void A_declined_payment_changes_only_the_version() => Histories.Holds(history =>
        Assert.All(
            history.Where(h => h.Fact is PaymentDeclined),
            h => Assert.Equal(h.Before with { Version = h.Before.Version + 1 }, h.After)));

    [Fact]
    public void A_payment_is_declined_only_for_currency_or_limit() => Histories.Holds(history =>
        Assert.All(history.Where(h => h.Fact is PaymentDeclined), h =>
        {
            var declined = (PaymentDeclined)h.Fact;
            Assert.Equal(h.Before.Currency is { } c && c != declined.Currency
                ? DeclineReason.CurrencyMismatch
                : DeclineReason.CreditLimitExceeded, declined.Reason);
            Assert.True(declined.Reason == DeclineReason.CurrencyMismatch
                || declined.Amount > h.Before.CreditLimit - h.Before.Balance);
        }));

    [Fact]
    public void The_available_amount_is_never_negative() => Histories.Holds(history =>
        Assert.All(history, h => Assert.True(h.After.Available >= 0)));

    [Fact]
    public void A_payment_of_exactly_the_available_amount_is_accepted_and_a_billionth_more_is_not()
    {
        var account = Limits.Opened(100);
        Assert.IsType<PaymentAccepted>(Pay(100).Decide(account, Now));
        var declined = Assert.IsType<PaymentDeclined>(Pay(100.000000001m).Decide(account, Now));
        Assert.Equal(DeclineReason.CreditLimitExceeded, declined.Reason);
    }

    [Fact]
    public void A_decision_contains_the_payment_the_time_and_what_the_account_owes_after_it()
    {
        var id = Guid.Parse(Samples.TransactionId);
        var account = Limits.Opened(10).Apply(new PaymentAccepted(Guid.NewGuid(), 2, "EUR", Now) { Balance = 2 });
        Assert.Equal(new PaymentAccepted(id, 7, "USD", Now) { Balance = 7 }, Pay(7).Decide(Limits.Opened(10), Now));
        Assert.Equal(
            new PaymentDeclined(id, 11, "USD", DeclineReason.CreditLimitExceeded, Now) { Balance = 0 },
            Pay(11).Decide(Limits.Opened(10), Now));
        Assert.Equal(
            new PaymentDeclined(id, 1, "USD", DeclineReason.CurrencyMismatch, Now) { Balance = 2, KeptIn = "EUR" },
            Pay(1).Decide(account, Now));
        Assert.Equal(
            new CreditLimitChanged(id, 5, "EUR", Now) { Balance = 2 },
            new CreditLimitChange(id, 5, "EUR").Decide(account, null, Now).Event);
    }

    [Fact]
    public void A_limit_lowered_below_the_balance_keeps_the_balance_and_declines_later_payments()
    {
        var account = Limits.Opened(100)
            .Apply(new PaymentAccepted(Guid.NewGuid(), 80, "USD", Now) { Balance = 80 })
            .Apply(new CreditLimitChanged(Guid.NewGuid(), 50, "USD", Now) { Balance = 80 });
        Assert.Equal((80m, 50m, 0m), (account.Balance, account.CreditLimit, account.Available));
        Assert.IsType<PaymentDeclined>(Pay(0.01m).Decide(account, Now));
        var raised = account.Apply(new CreditLimitChanged(Guid.NewGuid(), 200, "USD", Now) { Balance = 80 });
        Assert.Equal(120, raised.Available);
        Assert.IsType<PaymentAccepted>(Pay(120).Decide(raised, Now));
    }

    [Fact]
    public void A_limit_fixes_the_currency_of_an_account_that_has_none()
    {
        var account = Limits.Opened(100)
            .Apply(new CreditLimitChanged(Guid.NewGuid(), 100, "EUR", Now) { Balance = 0 });
        var declined = Assert.IsType<PaymentDeclined>(Pay(1).Decide(account, Now));
        Assert.Equal(DeclineReason.CurrencyMismatch, declined.Reason);
    }

    private static Payment Pay(decimal amount) => new(Guid.Parse(Samples.TransactionId), amount, "USD");
}
