using Billing.Client;

namespace Billing.Testing;

/// <content>What callers keep with payments.</content>
public abstract partial class BillingFacts
{
    private static Notes NewNotes(string reference) =>
        new(
            reference,
            new Dictionary<string, string> { ["shop"] = "Z\u00FCrich \"1\" \U0001F4B3", ["order.line-1"] = "" });

    [Fact]
    public async Task What_is_kept_with_a_payment_hold_capture_or_refund_is_in_the_statement()
    {
        var account = NewAccount();
        var declined = new Payment(account, new Amount(1_000_000, "USD")) { Notes = NewNotes("declined") };
        var payment = new Payment(account, new Amount(10, "USD")) { Notes = NewNotes("payment") };
        var hold = new Hold(account, new Amount(10, "USD")) { Notes = new Notes("hold") };
        var capture =
            new Capture(account, hold.Id, new Amount(3, "USD")) { Notes = new Notes(Metadata: NewNotes("").Metadata) };
        await DeclinedAsync(declined);
        await AcceptedAsync(payment);
        await Billing.AuthoriseAsync(hold, cancellationToken: Token);
        await Billing.CaptureAsync(capture, cancellationToken: Token);
        await AcceptedAsync(new Refund(account, payment.Id, new Amount(1, "USD")) { Notes = NewNotes("refund") });
        await AcceptedAsync(new Payment(account, new Amount(1, "USD")));

        var lines = await Billing.ReadStatementAsync(account, cancellationToken: Token).ToListAsync(Token);

        Assert.Equal(
            [declined.Notes, payment.Notes, hold.Notes, capture.Notes, NewNotes("refund"), null],
            lines.Select(line => line.Notes));
        Assert.Equal(
            payment.Notes,
            (await Billing.FindTransactionAsync(account, payment.Id, cancellationToken: Token))!.Line.Notes);
        Assert.Equal(
            hold.Notes, (await Billing.FindTransactionAsync(account, hold.Id, cancellationToken: Token))!.Line.Notes);
    }

    [Fact]
    public async Task What_is_kept_with_a_request_is_part_of_what_a_retry_has_to_repeat()
    {
        var account = NewAccount();
        var payment = new Payment(account, new Amount(10, "USD")) { Notes = NewNotes("one") };
        var hold = new Hold(account, new Amount(10, "USD")) { Notes = NewNotes("one") };
        var first = await AcceptedAsync(payment);
        var held = await Billing.AuthoriseAsync(hold, cancellationToken: Token);
        var capture = new Capture(account, hold.Id, new Amount(3, "USD")) { Notes = NewNotes("one") };
        await Billing.CaptureAsync(capture, cancellationToken: Token);
        var refund = new Refund(account, payment.Id, new Amount(1, "USD")) { Notes = NewNotes("one") };
        await AcceptedAsync(refund);
        var other = new Notes("one", new Dictionary<string, string> { ["shop"] = "Bern", ["order.line-1"] = "" });

        Assert.Equal(first with { IsReplay = true }, await AcceptedAsync(payment with { Notes = NewNotes("one") }));
        Assert.Equal(
            held.Accepted! with { IsReplay = true },
            (await Billing.AuthoriseAsync(hold with { Notes = NewNotes("one") }, cancellationToken: Token)).Accepted);
        foreach (var notes in (Notes?[])[null, NewNotes("two"), new Notes("one"), other])
        {
            Assert.Equal(RejectionReason.IdReused, (await RejectedAsync(payment with { Notes = notes })).Reason);
            Assert.Equal(RejectionReason.IdReused, Expect.Rejected(await Billing.AuthoriseAsync(
                hold with { Notes = notes }, cancellationToken: Token)).Reason);
            Assert.Equal(RejectionReason.IdReused, Expect.Rejected(await Billing.CaptureAsync(
                capture with { Notes = notes }, cancellationToken: Token)).Reason);
            Assert.Equal(RejectionReason.IdReused, (await RejectedAsync(refund with { Notes = notes })).Reason);
        }
    }
}
