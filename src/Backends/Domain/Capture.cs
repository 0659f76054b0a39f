namespace Billing.Backends.Domain;

/// <summary>The command to charge what is on hold, whole or in part.</summary>
/// <param name="TransactionId">The idempotency key.</param>
/// <param name="Of">The transaction id of the payment.</param>
/// <param name="Amount">More than zero.</param>
/// <param name="Currency">ISO 4217.</param>
/// <param name="IsFinal">Whether the rest is released.</param>
/// <param name="TraceId">The id of its trace if it is traced; stored with the event.</param>
public sealed record Capture(
    Guid TransactionId, Guid Of, decimal Amount, string Currency, bool IsFinal, string? TraceId = null)
    : AccountCommand(TransactionId)
{
    /// <inheritdoc/>
    public override Guid? PaymentId => Of;

    /// <inheritdoc/>
    public override Decision Decide(Account account, PaymentState? payment, DateTimeOffset now)
    {
        if (Hold.Refusal(payment) is { } refusal)
        {
            return refusal;
        }
        if (payment!.Currency != Currency)
        {
            return new Refusal.OtherCurrency(payment.Currency);
        }
        if (Amount > payment.Held)
        {
            return new Refusal.MoreThanIsHeld(payment.Held);
        }
        var released = IsFinal ? payment.Held - Amount : 0;
        return new PaymentCaptured(TransactionId, Of, Amount, released, Currency, now, TraceId)
        {
            Charged = payment.Charged + Amount,
            Refunded = payment.Refunded,
            Held = payment.Held - Amount - released,
            Balance = account.Balance + Amount,
            OnHold = Stated(account.OnHold - Amount - released),
            Status = Stated(account.Status),
            By = By,
            Notes = Notes,
        };
    }
}

/// <summary>What was on hold was charged, whole or in part.</summary>
/// <param name="TransactionId">The capture's idempotency key.</param>
/// <param name="PaymentId">The transaction id of the payment.</param>
/// <param name="Amount">More than zero.</param>
/// <param name="Released">What else is not on hold any more; zero unless it was the last capture.</param>
/// <param name="Currency">ISO 4217; the account's own.</param>
/// <param name="DecidedAt">When it was decided.</param>
/// <param name="TraceId">The id of its trace if it is traced.</param>
public sealed record PaymentCaptured(
    Guid TransactionId, Guid PaymentId, decimal Amount, decimal Released, string Currency,
    DateTimeOffset DecidedAt, string? TraceId = null)
    : PaymentFollowUp
{
    internal override string AccountCurrency => Currency;

    internal override Account ApplyTo(Account account) =>
        account.Next(Currency, charged: Amount, held: -Amount - Released);
}
