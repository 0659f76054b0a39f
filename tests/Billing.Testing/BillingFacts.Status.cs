using Billing.Client;

namespace Billing.Testing;

/// <content>Accounts that are frozen, closed and reopened.</content>
public abstract partial class BillingFacts
{
    [Fact]
    public async Task A_frozen_account_takes_no_payments_until_it_is_reopened_and_all_else_goes_on()
    {
        var account = NewAccount();
        var (payment, hold) = (new Payment(account, new Amount(10, "USD")), new Hold(account, new Amount(5, "USD")));
        await AcceptedAsync(payment);
        await Billing.AuthoriseAsync(hold, cancellationToken: Token);
        var freeze = new AccountStatusChange(account, AccountStatus.Frozen) { Notes = new Notes("case 7") };

        var frozen = await AcceptedAsync(freeze);
        var declined = await DeclinedAsync(new Payment(account, new Amount(1, "USD")));
        var held = Expect.Declined(
            await Billing.AuthoriseAsync(new Hold(account, new Amount(1, "USD")), cancellationToken: Token));
        Expect.Accepted(
            await Billing.CaptureAsync(new Capture(account, hold.Id, new Amount(2, "USD")), cancellationToken: Token));
        var refunded = await AcceptedAsync(new Refund(account, payment.Id, new Amount(4, "USD")));
        var balance = await Billing.GetBalanceAsync(account, refunded.Version, cancellationToken: Token);
        var again = await AcceptedAsync(freeze);
        var opened = await AcceptedAsync(new AccountStatusChange(account, AccountStatus.Open));
        await AcceptedAsync(new Payment(account, new Amount(1, "USD")));
        var past = await Billing.GetBalanceAtAsync(account, frozen.Version, cancellationToken: Token);
        var lines = await Billing.ReadStatementAsync(account, cancellationToken: Token).ToListAsync(Token);

        Assert.Equal(
            (AccountStatus.Frozen, new Amount(10, "USD"), new Amount(5, "USD"), 3L),
            (frozen.Status, frozen.Balance, frozen.OnHold, frozen.Version));
        Assert.Equal(frozen with { IsReplay = true }, again);
        Assert.Equal(
            (DeclineReason.AccountFrozen, "The account is frozen.", DeclineReason.AccountFrozen),
            (declined.Reason, declined.Message, held.Reason));
        Assert.Equal(
            (AccountStatus.Frozen, new Amount(8, "USD"), new Amount(3, "USD")),
            (balance.Status, balance.Balance, balance.OnHold));
        Assert.Equal((AccountStatus.Frozen, AccountStatus.Open), (past.Status, opened.Status));
        Assert.Equal(
            [
                AccountStatus.Open, AccountStatus.Open, AccountStatus.Frozen, AccountStatus.Frozen,
                AccountStatus.Frozen, AccountStatus.Frozen, AccountStatus.Frozen,
                AccountStatus.Open, AccountStatus.Open,
            ],
            lines.Select(line => line.Status));
        Assert.Equal(
            (StatementLineType.AccountStatusChanged, freeze.Id, freeze.Notes, 0m),
            (lines[2].Type, lines[2].Id, lines[2].Notes, lines[2].Amount.Value));
        Assert.Equal(
            lines[2], (await Billing.FindTransactionAsync(account, freeze.Id, cancellationToken: Token))!.Line);
    }

    [Fact]
    public async Task An_account_without_debt_or_holds_can_be_closed_and_its_statement_stays_readable()
    {
        var account = NewAccount();
        var (payment, hold) = (new Payment(account, new Amount(10, "USD")), new Hold(account, new Amount(5.5m, "USD")));
        await AcceptedAsync(payment);
        await Billing.AuthoriseAsync(hold, cancellationToken: Token);
        var close = new AccountStatusChange(account, AccountStatus.Closed);

        var refused = await RejectedAsync(close);
        await AcceptedAsync(new Refund(account, payment.Id, new Amount(10, "USD")));
        var stillHeld = await RejectedAsync(close);
        Expect.Accepted(await Billing.VoidAsync(new HoldVoid(account, hold.Id), cancellationToken: Token));
        var closed = await AcceptedAsync(close);
        var declined = await DeclinedAsync(new Payment(account, new Amount(1, "USD")));
        var lines = await Billing.ReadStatementAsync(account, cancellationToken: Token).ToListAsync(Token);

        Assert.Equal((RejectionReason.AccountNotEmpty, "account_status"), (refused.Reason, refused.Field));
        Assert.Equal("The account cannot be closed: it owes 10 USD, and 5.5 USD is on hold.", refused.Message);
        Assert.Equal("The account cannot be closed: it owes 0 USD, and 5.5 USD is on hold.", stillHeld.Message);
        Assert.Equal((AccountStatus.Closed, 5L), (closed.Status, closed.Version));
        Assert.Equal((DeclineReason.AccountClosed, "The account is closed."), (declined.Reason, declined.Message));
        Assert.Equal(
            [StatementLineType.AccountStatusChanged, StatementLineType.PaymentDeclined],
            lines.TakeLast(2).Select(line => line.Type));
        Assert.Equal(AccountStatus.Closed, lines[^1].Status);
    }

    [Fact]
    public async Task An_account_that_was_never_used_can_be_closed_and_a_reused_id_is_rejected()
    {
        var account = NewAccount();
        var close = new AccountStatusChange(account, AccountStatus.Closed);

        var closed = await AcceptedAsync(close);
        var reused = await RejectedAsync(new AccountStatusChange(close.Id, account, AccountStatus.Open));
        var renoted = await RejectedAsync(close with { Notes = new Notes("case 7") });
        var limit = await AcceptedAsync(new CreditLimitChange(account, new Amount(50, "EUR")));
        var declined = await DeclinedAsync(new Payment(account, new Amount(60, "USD")));

        Assert.Equal((1L, 0m, ""), (closed.Version, closed.Balance.Value, closed.Balance.Currency));
        Assert.Equal((RejectionReason.IdReused, RejectionReason.IdReused), (reused.Reason, renoted.Reason));
        Assert.Equal(
            (2L, DeclineReason.AccountClosed, "EUR"), (limit.Version, declined.Reason, declined.Balance.Currency));
    }
}
