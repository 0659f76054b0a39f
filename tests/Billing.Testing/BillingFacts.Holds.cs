using Billing.Client;

namespace Billing.Testing;

public abstract partial class BillingFacts
{
    [Fact]
    public async Task An_amount_on_hold_can_be_captured_in_parts_and_the_last_one_releases_the_rest()
    {
        var account = NewAccount();
        var hold = new Hold(account, Dollars(10), TimeSpan.FromDays(1));
        var part = new Capture(account, hold.Id, Dollars(4));
        var last = new Capture(account, hold.Id, Dollars(5), isFinal: true);

        var authorised = await AcceptedAsync(hold);
        var before = await Billing.GetBalanceAsync(account, authorised.Version, cancellationToken: Token);
        var first = await AcceptedAsync(part);
        var between = await Billing.GetBalanceAsync(account, first.Version, cancellationToken: Token);
        var second = await AcceptedAsync(last);
        var after = await Billing.GetBalanceAsync(account, second.Version, cancellationToken: Token);
        var lines = await LinesAsync(account);

        Assert.Equal((Dollars(0), Dollars(10), 1L), (authorised.Balance, authorised.OnHold, authorised.Version));
        Assert.Equal(lines[0].DecidedAt.AddDays(1), authorised.ExpiresAt, TimeSpan.FromMicroseconds(1));
        Assert.Equal((0m, 10m, 9_990m), ValuesOf(before));
        Assert.Equal((Dollars(4), Dollars(6), Dollars(4), 2L), (first.Total, first.Held, first.Balance, first.Version));
        Assert.Equal((4m, 6m, 9_990m), ValuesOf(between));
        Assert.Equal(
            (Dollars(9), Dollars(0), Dollars(9), 3L), (second.Total, second.Held, second.Balance, second.Version));
        Assert.Equal((9m, 0m, 9_991m), ValuesOf(after));
        Assert.Equal(
            [
                (StatementLineType.PaymentAuthorised, hold.Id, null, 10m, 0m, 10m),
                (StatementLineType.PaymentCaptured, part.Id, hold.Id, 4m, 4m, 6m),
                (StatementLineType.PaymentCaptured, last.Id, hold.Id, 5m, 9m, 0m),
            ],
            lines.Select(line => (
                line.Type, line.Id, line.PaymentId, line.Amount.Value, line.Balance.Value, line.OnHold.Value)));
    }

    [Fact]
    public async Task What_has_become_of_an_authorised_payment_is_found_and_only_what_was_captured_can_be_given_back()
    {
        var account = NewAccount();
        var hold = new Hold(account, Dollars(10));
        var authorised = await AcceptedAsync(hold);

        var tooEarly = await RejectedAsync(new Refund(account, hold.Id, Dollars(1)));
        await AcceptedAsync(new Capture(account, hold.Id, Dollars(6)));
        var tooMuch = await RejectedAsync(new Refund(account, hold.Id, Dollars(7)));
        var refunded = await AcceptedAsync(new Refund(account, hold.Id, Dollars(5)));
        var found = await Billing.FindTransactionAsync(account, hold.Id, cancellationToken: Token);
        var lines = await LinesAsync(account);

        Assert.Equal(
            (RejectionReason.AmountTooLarge, "amount must be at most 0: no more is left of the payment."),
            (tooEarly.Reason, tooEarly.Message));
        Assert.Equal(
            (RejectionReason.AmountTooLarge, "amount must be at most 6: no more is left of the payment."),
            (tooMuch.Reason, tooMuch.Message));
        Assert.Equal((Dollars(5), Dollars(1)), (refunded.Total, refunded.Balance));
        Assert.Equal(
            (hold.Id, StatementLineType.PaymentAuthorised, Dollars(10), 1L),
            (found!.Line.Id, found.Line.Type, found.Line.Amount, found.Line.Version));
        Assert.Equal(
            (Dollars(6), Dollars(5), Dollars(4)),
            (found.Payment!.Charged, found.Payment!.Refunded, found.Payment!.Held));
        Assert.Equal(authorised.ExpiresAt, found.Payment!.ExpiresAt);
        Assert.Equal(lines[0].DecidedAt.AddDays(7), authorised.ExpiresAt, TimeSpan.FromMicroseconds(1));
        Assert.Equal(
            authorised with { IsReplay = true },
            await AcceptedAsync(new Hold(hold.Id, account, Dollars(10), TimeSpan.FromDays(7))));
        Assert.Equal([10m, 4m, 4m], lines.Select(line => line.OnHold.Value));
    }

    [Fact]
    public async Task What_was_paid_at_once_is_charged_and_not_on_hold()
    {
        var account = NewAccount();
        var (payment, declined) = (new Payment(account, Dollars(10)), new Payment(account, Dollars(10_000)));
        await AcceptedAsync(payment);
        await DeclinedAsync(declined);

        var found = await Billing.FindTransactionAsync(account, payment.Id, cancellationToken: Token);
        var nothing = await Billing.FindTransactionAsync(account, declined.Id, cancellationToken: Token);

        Assert.Equal(
            (10m, 0m, null), (found!.Payment!.Charged.Value, found.Payment!.Held.Value, found.Payment!.ExpiresAt));
        Assert.Equal(
            (0m, 0m, null), (nothing!.Payment!.Charged.Value, nothing.Payment!.Held.Value, nothing.Payment!.ExpiresAt));
    }

    [Fact]
    public async Task An_amount_on_hold_can_be_voided_also_what_is_left_after_a_capture()
    {
        var account = NewAccount();
        var hold = new Hold(account, Dollars(10));
        await AcceptedAsync(hold);
        await AcceptedAsync(new Capture(account, hold.Id, Dollars(4)));
        var release = new HoldVoid(account, hold.Id);

        var voided = await AcceptedAsync(release);
        var balance = await Billing.GetBalanceAsync(account, voided.Version, cancellationToken: Token);
        var found = await Billing.FindTransactionAsync(account, hold.Id, cancellationToken: Token);
        var line = (await LinesAsync(account))[^1];

        Assert.Equal((Dollars(6), Dollars(4), 3L), (voided.Released, voided.Balance, voided.Version));
        Assert.Equal((4m, 0m, 9_996m), ValuesOf(balance));
        Assert.Equal((Dollars(4), Dollars(0)), (found!.Payment!.Charged, found.Payment!.Held));
        Assert.Equal(
            (StatementLineType.AuthorisationVoided, release.Id, hold.Id, Dollars(6)),
            (line.Type, line.Id, line.PaymentId, line.Amount));
    }

    [Fact]
    public async Task What_is_on_hold_counts_for_the_limit_of_payments_and_holds()
    {
        var account = NewAccount();
        await AcceptedAsync(new Payment(account, Dollars(5_000)));
        await AcceptedAsync(new Hold(account, Dollars(4_000)));
        var tooMuch = new Hold(account, Dollars(1_000.01m));

        var payment = await DeclinedAsync(new Payment(account, Dollars(1_000.01m)));
        var declined = await DeclinedAsync(tooMuch);
        var inEuros = await DeclinedAsync(new Hold(account, new Amount(1, "EUR")));
        var found = await Billing.FindTransactionAsync(account, tooMuch.Id, cancellationToken: Token);
        var exactly = await AcceptedAsync(new Hold(account, Dollars(1_000)));
        var line = (await LinesAsync(account))[3];

        Assert.Equal(DeclineReason.CreditLimitExceeded, payment.Reason);
        Assert.Equal(
            (DeclineReason.CreditLimitExceeded,
                "The amount is more than the account may still spend.", Dollars(5_000), 4L),
            (declined.Reason, declined.Message, declined.Balance, declined.Version));
        Assert.Equal(
            (DeclineReason.CurrencyMismatch, "The account is kept in another currency."),
            (inEuros.Reason, inEuros.Message));
        Assert.Equal(
            (StatementLineType.AuthorisationDeclined, 0m, 0m, null),
            (found!.Line.Type, found.Payment!.Charged.Value, found.Payment.Held.Value, found.Payment.ExpiresAt));
        Assert.Equal(
            (StatementLineType.AuthorisationDeclined, tooMuch.Id, DeclineReason.CreditLimitExceeded, 4_000m),
            (line.Type, line.Id, line.DeclineReason, line.OnHold.Value));
        Assert.Equal(Dollars(5_000), exactly.OnHold);
    }

    [Fact]
    public async Task A_repeated_hold_capture_or_voiding_gets_the_first_answer_and_with_other_content_it_is_rejected()
    {
        var account = NewAccount();
        var hold = new Hold(account, Dollars(10), TimeSpan.FromHours(1));
        var capture = new Capture(account, hold.Id, Dollars(4));
        var release = new HoldVoid(account, hold.Id);
        var authorised = await AcceptedAsync(hold);
        var captured = await AcceptedAsync(capture);
        var voided = await AcceptedAsync(release);

        Assert.Equal(authorised with { IsReplay = true }, await AcceptedAsync(hold));
        Assert.Equal(captured with { IsReplay = true }, await AcceptedAsync(capture));
        Assert.Equal(voided with { IsReplay = true }, await AcceptedAsync(release));
        Assert.Equal(3, (await LinesAsync(account)).Count);
        var others = new[]
        {
            (await RejectedAsync(new Hold(hold.Id, account, Dollars(11), hold.StandsFor))).Reason,
            (await RejectedAsync(new Hold(hold.Id, account, Dollars(10), TimeSpan.FromHours(2)))).Reason,
            (await RejectedAsync(new Payment(hold.Id, account, Dollars(10)))).Reason,
            (await RejectedAsync(new Capture(capture.Id, account, hold.Id, Dollars(5)))).Reason,
            (await RejectedAsync(new Capture(capture.Id, account, hold.Id, Dollars(4), isFinal: true))).Reason,
            (await RejectedAsync(new HoldVoid(release.Id, account, Guid.NewGuid()))).Reason,
        };
        Assert.All(others, reason => Assert.Equal(RejectionReason.IdReused, reason));
    }

    [Fact]
    public async Task A_capture_that_does_not_fit_its_payment_is_rejected_and_its_id_can_be_used_again()
    {
        var account = NewAccount();
        var (payment, hold, declined) =
            (new Payment(account, Dollars(1)), new Hold(account, Dollars(10)), new Hold(account, Dollars(10_000)));
        await AcceptedAsync(payment);
        await AcceptedAsync(hold);
        await DeclinedAsync(declined);
        var id = Guid.NewGuid();

        var ofNothing = await RejectedAsync(new Capture(id, NewAccount(), hold.Id, Dollars(1)));
        var ofDeclined = await RejectedAsync(new Capture(id, account, declined.Id, Dollars(1)));
        var ofPayment = await RejectedAsync(new Capture(id, account, payment.Id, Dollars(1)));
        var inEuros = await RejectedAsync(new Capture(id, account, hold.Id, new Amount(1, "EUR")));
        var tooMuch = await RejectedAsync(new Capture(id, account, hold.Id, Dollars(10.01m)));
        await AcceptedAsync(new Capture(id, account, hold.Id, Dollars(10)));
        var captured = await RejectedAsync(new Capture(account, hold.Id, Dollars(1)));

        Assert.Equal(
            [
                (RejectionReason.PaymentNotFound, "payment_id"), (RejectionReason.PaymentDeclined, "payment_id"),
                (RejectionReason.NotOnHold, "payment_id"),
                (RejectionReason.CurrencyMismatch, "amount.currency_code"), (RejectionReason.AmountTooLarge, "amount"),
                (RejectionReason.NotOnHold, "payment_id"),
            ],
            new[] { ofNothing, ofDeclined, ofPayment, inEuros, tooMuch, captured }.Select(
                rejected => (rejected.Reason, rejected.Field)));
        Assert.Equal("amount must be at most 10: no more is on hold of the payment.", tooMuch.Message);
        Assert.Equal(NotOnHold, captured.Message);
    }

    [Fact]
    public async Task A_voiding_that_does_not_fit_its_payment_is_rejected_and_its_id_can_be_used_again()
    {
        var account = NewAccount();
        var (payment, hold, declined) =
            (new Payment(account, Dollars(1)), new Hold(account, Dollars(10)), new Hold(account, Dollars(10_000)));
        await AcceptedAsync(payment);
        await AcceptedAsync(hold);
        await DeclinedAsync(declined);
        var id = Guid.NewGuid();

        var ofNothing = await RejectedAsync(new HoldVoid(id, NewAccount(), hold.Id));
        var ofDeclined = await RejectedAsync(new HoldVoid(id, account, declined.Id));
        var ofPayment = await RejectedAsync(new HoldVoid(id, account, payment.Id));
        await AcceptedAsync(new HoldVoid(id, account, hold.Id));
        var voided = await RejectedAsync(new HoldVoid(account, hold.Id));
        var captured = await RejectedAsync(new Capture(account, hold.Id, Dollars(1)));

        Assert.Equal(
            [
                RejectionReason.PaymentNotFound, RejectionReason.PaymentDeclined,
                RejectionReason.NotOnHold, RejectionReason.NotOnHold,
            ],
            new[] { ofNothing, ofDeclined, ofPayment, voided }.Select(rejected => rejected.Reason));
        Assert.Equal(("payment_id", NotOnHold), (voided.Field, voided.Message));
        Assert.Equal((RejectionReason.NotOnHold, "payment_id"), (captured.Reason, captured.Field));
    }

    private const string NotOnHold =
        "Nothing of the payment is on hold: it was not authorised, is captured whole or voided, or has expired.";

    private static Amount Dollars(decimal value) => new(value, "USD");

    private static (decimal Balance, decimal OnHold, decimal Available) ValuesOf(AccountBalance account) =>
        (account.Balance.Value, account.OnHold.Value, account.Available.Value);

    private async Task<List<StatementLine>> LinesAsync(CardAccount account) =>
        await Billing.ReadStatementAsync(account, cancellationToken: Token).ToListAsync(Token);
}
