using Billing.Client;
using Billing.Contracts;

namespace Billing.Testing;

/// <summary>Guarantees to callers that hold for the real platform and for the in-memory one.</summary>
public abstract partial class BillingFacts
{
    /// <summary>The platform under test, with an initial credit limit of 10,000.</summary>
    protected abstract BillingClient Billing { get; }

    /// <summary>The same, for operators.</summary>
    protected abstract BillingAdminClient Admin { get; }

    [Fact]
    public async Task A_payment_within_the_limit_is_accepted_and_the_balance_includes_it()
    {
        var account = NewAccount();

        var paid = await AcceptedAsync(new Payment(account, new Amount(12.34m, "USD")));
        var balance = await Billing.GetBalanceAsync(account, paid.Version, cancellationToken: Token);

        Assert.Equal((new Amount(12.34m, "USD"), 1L), (paid.Balance, paid.Version));
        Assert.Equal(
            (new Amount(12.34m, "USD"), new Amount(9_987.66m, "USD"), new Amount(10_000, "USD"), 1L),
            (balance.Balance, balance.Available, balance.CreditLimit, balance.Version));
    }

    [Fact]
    public async Task A_payment_above_the_limit_is_declined_and_charges_nothing()
    {
        var account = NewAccount();
        await AcceptedAsync(new Payment(account, new Amount(9_990, "USD")));

        var declined = await DeclinedAsync(new Payment(account, new Amount(10.01m, "USD")));

        Assert.Equal(
            (DeclineReason.CreditLimitExceeded,
                "The amount is more than the account may still spend.", new Amount(9_990, "USD"), 2L),
            (declined.Reason, declined.Message, declined.Balance, declined.Version));
    }

    [Fact]
    public async Task A_request_is_found_by_its_account_and_its_id()
    {
        var account = NewAccount();
        var payment = new Payment(account, new Amount(10_000.01m, "USD"));
        await DeclinedAsync(payment);
        var limit = new CreditLimitChange(account, new Amount(10, "USD"));
        await Admin.SetCreditLimitAsync(limit, cancellationToken: Token);

        var found = await Billing.FindTransactionAsync(account, payment.Id, cancellationToken: Token);

        Assert.NotNull(found);
        Assert.Equal(
            (payment.Id, StatementLineType.PaymentDeclined, DeclineReason.CreditLimitExceeded, payment.Amount, 1L),
            (found.Line.Id, found.Line.Type, found.Line.DeclineReason, found.Line.Amount, found.Line.Version));
        Assert.Null(await Billing.FindTransactionAsync(NewAccount(), payment.Id, cancellationToken: Token));
        var changed = await Billing.FindTransactionAsync(account, limit.Id, cancellationToken: Token);
        Assert.Equal(
            (limit.Id, StatementLineType.CreditLimitChanged, null),
            (changed!.Line.Id, changed.Line.Type, changed.Payment));
        Assert.Null(await Billing.FindTransactionAsync(account, Guid.NewGuid(), cancellationToken: Token));
    }

    [Fact]
    public async Task A_payment_is_given_back_in_parts_and_never_more_than_it_was()
    {
        var account = NewAccount();
        var payment = new Payment(account, new Amount(10, "USD"));
        await AcceptedAsync(payment);
        var refund = new Refund(account, payment.Id, new Amount(4, "USD"));

        var part = await AcceptedAsync(refund);
        var again = await AcceptedAsync(refund);
        var tooMuch = await RejectedAsync(new Refund(account, payment.Id, new Amount(6.01m, "USD")));
        var rest = await AcceptedAsync(new Refund(account, payment.Id, new Amount(6, "USD")));
        var found = await Billing.FindTransactionAsync(account, payment.Id, cancellationToken: Token);
        var ofRefund = await Billing.FindTransactionAsync(account, refund.Id, cancellationToken: Token);
        var lines = await Billing.ReadStatementAsync(account, cancellationToken: Token).ToListAsync(Token);

        Assert.Equal(
            (refund.Id, StatementLineType.PaymentRefunded, found!.Payment),
            (ofRefund!.Line.Id, ofRefund.Line.Type, ofRefund.Payment));
        Assert.Equal(part with { IsReplay = true }, again);
        Assert.Equal((new Amount(4, "USD"), new Amount(6, "USD"), 2L), (part.Total, part.Balance, part.Version));
        Assert.Equal((new Amount(10, "USD"), new Amount(0, "USD"), 3L), (rest.Total, rest.Balance, rest.Version));
        Assert.Equal((RejectionReason.AmountTooLarge, "amount"), (tooMuch.Reason, tooMuch.Field));
        Assert.Equal("amount must be at most 6: no more is left of the payment.", tooMuch.Message);
        Assert.Equal(
            (StatementLineType.PaymentAccepted, new Amount(10, "USD")), (found!.Line.Type, found.Payment!.Refunded));
        Assert.Equal([null, payment.Id, payment.Id], lines.Select(line => line.PaymentId));
        Assert.Equal(
            (StatementLineType.PaymentRefunded, refund.Id, refund.Amount),
            (lines[1].Type, lines[1].Id, lines[1].Amount));
    }

    [Fact]
    public async Task A_refund_that_does_not_fit_its_payment_is_rejected_and_its_id_can_be_used_again()
    {
        var account = NewAccount();
        var payment = new Payment(account, new Amount(10, "USD"));
        var declined = new Payment(account, new Amount(10_000, "USD"));
        await AcceptedAsync(payment);
        await DeclinedAsync(declined);
        var refund = new Refund(account, declined.Id, new Amount(1, "USD"));

        var ofDeclined = await RejectedAsync(refund);
        var ofNothing = await RejectedAsync(new Refund(refund.Id, NewAccount(), payment.Id, new Amount(1, "USD")));
        var inEuros = await RejectedAsync(new Refund(refund.Id, account, payment.Id, new Amount(1, "EUR")));
        await AcceptedAsync(new Refund(refund.Id, account, payment.Id, new Amount(1, "USD")));
        var reused = await RejectedAsync(new Refund(refund.Id, account, payment.Id, new Amount(2, "USD")));

        Assert.Equal(
            [
                (RejectionReason.PaymentDeclined, "payment_id"), (RejectionReason.PaymentNotFound, "payment_id"),
                (RejectionReason.CurrencyMismatch, "amount.currency_code"), (RejectionReason.IdReused, ""),
            ],
            new[] { ofDeclined, ofNothing, inEuros, reused }.Select(rejected => (rejected.Reason, rejected.Field)));
    }

    [Fact]
    public async Task A_payment_in_another_currency_is_declined()
    {
        var account = NewAccount();
        await AcceptedAsync(new Payment(account, new Amount(1, "EUR")));

        var declined = await DeclinedAsync(new Payment(account, new Amount(1, "USD")));

        Assert.Equal((DeclineReason.CurrencyMismatch, new Amount(1, "EUR")), (declined.Reason, declined.Balance));
        Assert.Equal("The account is kept in another currency.", declined.Message);
    }

    [Fact]
    public async Task A_retried_payment_gets_the_first_result_and_is_charged_once()
    {
        var account = NewAccount();
        var payment = new Payment(account, new Amount(5, "USD"));
        var first = await AcceptedAsync(payment);
        await AcceptedAsync(new Payment(account, new Amount(1, "USD")));

        var again = await AcceptedAsync(new Payment(payment.Id, account, new Amount(5.00m, "USD")));

        Assert.Equal(first with { IsReplay = true }, again);
        Assert.Equal(6, (await Billing.GetBalanceAsync(account, 2, cancellationToken: Token)).Balance.Value);
    }

    [Fact]
    public async Task An_id_used_for_a_different_request_is_rejected()
    {
        var account = NewAccount();
        var payment = new Payment(account, new Amount(5, "USD"));
        await AcceptedAsync(payment);

        var other = await RejectedAsync(new Payment(payment.Id, account, new Amount(6, "USD")));
        var limit = await RejectedAsync(new CreditLimitChange(payment.Id, account, new Amount(6, "USD")));

        Assert.Equal((RejectionReason.IdReused, ""), (other.Reason, other.Field));
        Assert.Equal(RejectionReason.IdReused, limit.Reason);
    }

    [Fact]
    public async Task A_limit_applies_to_the_payments_after_it()
    {
        var account = NewAccount();

        var set = await AcceptedAsync(new CreditLimitChange(account, new Amount(50, "USD")));
        await DeclinedAsync(new Payment(account, new Amount(50.01m, "USD")));
        var paid = await AcceptedAsync(new Payment(account, new Amount(50, "USD")));
        var lowered = await AcceptedAsync(new CreditLimitChange(account, new Amount(10, "USD")));
        var balance = await Billing.GetBalanceAsync(account, lowered.Version, cancellationToken: Token);

        Assert.Equal((new Amount(50, "USD"), new Amount(0, "USD"), 1L), (set.Limit, set.Balance, set.Version));
        Assert.Equal(3, paid.Version);
        Assert.Equal((50m, 0m, 10m), (balance.Balance.Value, balance.Available.Value, balance.CreditLimit.Value));
    }

    [Fact]
    public async Task A_limit_in_another_currency_is_rejected_with_its_field_and_its_id_can_be_used_again()
    {
        var account = NewAccount();
        await AcceptedAsync(new Payment(account, new Amount(1, "EUR")));
        var limit = new CreditLimitChange(account, new Amount(5, "USD"));

        var rejected = await RejectedAsync(limit);

        Assert.Equal((RejectionReason.CurrencyMismatch, "limit.currency_code"), (rejected.Reason, rejected.Field));
        Assert.Equal("limit.currency_code must be EUR: the account is kept in it.", rejected.Message);
        await AcceptedAsync(new CreditLimitChange(limit.Id, account, new Amount(5, "EUR")));
    }

    [Fact]
    public async Task An_account_without_events_has_a_zero_balance_and_no_currency()
    {
        var balance = await Billing.GetBalanceAsync(NewAccount(), cancellationToken: Token);

        Assert.Equal(
            (0m, 0m, 0L, ""),
            (balance.Balance.Value, balance.Available.Value, balance.Version, balance.Balance.Currency));
    }

    [Fact]
    public async Task A_version_that_an_account_does_not_reach_throws_an_exception_with_that_reason()
    {
        var e = await Assert.ThrowsAsync<BillingException>(
            () => Billing.GetBalanceAsync(NewAccount(), 7, TimeSpan.FromSeconds(10), Token));

        Assert.Equal(
            (RejectionReason.VersionNotReached, ErrorReasons.VersionNotReached, false, "min_version"),
            (e.RejectionReason, e.Reason, e.IsTransient, e.Field));
    }

    [Fact]
    public async Task A_statement_has_the_events_in_order_and_can_be_read_in_part()
    {
        var account = NewAccount();
        var limit = new CreditLimitChange(account, new Amount(20, "USD"));
        var payments = ((List<decimal>)[15, 10, 5]).ConvertAll(value => new Payment(account, new Amount(value, "USD")));
        await AcceptedAsync(limit);
        foreach (var payment in payments)
        {
            await Billing.PayAsync(payment, cancellationToken: Token);
        }

        var lines = await Billing.ReadStatementAsync(account, cancellationToken: Token).ToListAsync(Token);
        var part = await Billing.ReadStatementAsync(account, 1, 2, Token).ToListAsync(Token);

        Assert.Equal(
            [
                (1, StatementLineType.CreditLimitChanged, limit.Id, 20m, 0m, null),
                (2, StatementLineType.PaymentAccepted, payments[0].Id, 15m, 15m, null),
                (3, StatementLineType.PaymentDeclined, payments[1].Id, 10m, 15m, DeclineReason.CreditLimitExceeded),
                (4, StatementLineType.PaymentAccepted, payments[2].Id, 5m, 20m, null),
            ],
            lines.Select(line => (
                line.Version, line.Type, line.Id, line.Amount.Value, line.Balance.Value, line.DeclineReason)));
        Assert.Equal([2L, 3], part.Select(line => line.Version));
    }

    [Fact]
    public async Task Many_payments_have_one_result_each()
    {
        var account = NewAccount();
        var payments = Enumerable.Range(0, 100).Select(_ => new Payment(account, new Amount(1, "USD"))).ToList();
        var reused = new Payment(payments[0].Id, account, new Amount(2, "USD"));

        var results = await Billing.PayAllAsync(payments.ToAsyncEnumerable(), Token).ToListAsync(Token);
        var last = await Billing.PayAllAsync(Enumerable.Repeat(reused, 1).ToAsyncEnumerable(), Token)
            .SingleAsync(Token);

        Assert.Equal(
            payments.Select(p => p.Id).Order(), results.Where(r => r.Accepted is not null).Select(r => r.Id).Order());
        Assert.Equal(RejectionReason.IdReused, Expect.Rejected(last).Reason);
    }

    [Fact]
    public async Task A_call_that_is_already_cancelled_gets_no_result()
    {
        using var cancelled = new CancellationTokenSource();
        await cancelled.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () =>
                Billing.PayAsync(new Payment(NewAccount(), new Amount(1, "USD")), cancellationToken: cancelled.Token));
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private static CardAccount NewAccount() => new(CardNetwork.Discover, $"facts-{Guid.NewGuid():N}");

    private async Task<PaymentAnswer> AcceptedAsync(Payment payment) =>
        Expect.Accepted(await Billing.PayAsync(payment, cancellationToken: Token));

    private async Task<HoldAnswer> AcceptedAsync(Hold hold) =>
        Expect.Accepted(await Billing.AuthoriseAsync(hold, cancellationToken: Token));

    private async Task<CaptureAnswer> AcceptedAsync(Capture capture) =>
        Expect.Accepted(await Billing.CaptureAsync(capture, cancellationToken: Token));

    private async Task<HoldVoidAnswer> AcceptedAsync(HoldVoid request) =>
        Expect.Accepted(await Billing.VoidAsync(request, cancellationToken: Token));

    private async Task<RefundAnswer> AcceptedAsync(Refund refund) =>
        Expect.Accepted(await Billing.RefundAsync(refund, cancellationToken: Token));

    private async Task<CreditLimitAnswer> AcceptedAsync(CreditLimitChange limit) =>
        Expect.Accepted(await Admin.SetCreditLimitAsync(limit, cancellationToken: Token));

    private async Task<AccountStatusAnswer> AcceptedAsync(AccountStatusChange change) =>
        Expect.Accepted(await Admin.SetAccountStatusAsync(change, cancellationToken: Token));

    private async Task<Decline> DeclinedAsync(Payment payment) =>
        Expect.Declined(await Billing.PayAsync(payment, cancellationToken: Token));

    private async Task<Decline> DeclinedAsync(Hold hold) =>
        Expect.Declined(await Billing.AuthoriseAsync(hold, cancellationToken: Token));

    private async Task<Rejection> RejectedAsync(Payment payment) =>
        Expect.Rejected(await Billing.PayAsync(payment, cancellationToken: Token));

    private async Task<Rejection> RejectedAsync(Hold hold) =>
        Expect.Rejected(await Billing.AuthoriseAsync(hold, cancellationToken: Token));

    private async Task<Rejection> RejectedAsync(Capture capture) =>
        Expect.Rejected(await Billing.CaptureAsync(capture, cancellationToken: Token));

    private async Task<Rejection> RejectedAsync(HoldVoid request) =>
        Expect.Rejected(await Billing.VoidAsync(request, cancellationToken: Token));

    private async Task<Rejection> RejectedAsync(Refund refund) =>
        Expect.Rejected(await Billing.RefundAsync(refund, cancellationToken: Token));

    private async Task<Rejection> RejectedAsync(CreditLimitChange limit) =>
        Expect.Rejected(await Admin.SetCreditLimitAsync(limit, cancellationToken: Token));

    private async Task<Rejection> RejectedAsync(AccountStatusChange change) =>
        Expect.Rejected(await Admin.SetAccountStatusAsync(change, cancellationToken: Token));
}
