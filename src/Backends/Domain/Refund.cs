namespace Billing.Backends.Domain;

/// <summary>The command to give back a payment, whole or in part.</summary>
/// <param name="TransactionId">The idempotency key.</param>
/// <param name="Of">The transaction id of the payment.</param>
/// <param name="Amount">More than zero.</param>
/// <param name="Currency">ISO 4217.</param>
/// <param name="TraceId">The id of its trace if it is traced; stored with the event.</param>
public sealed record Refund(Guid TransactionId, Guid Of, decimal Amount, string Currency, string? TraceId = null)
    : AccountCommand(TransactionId)
{
    /// <inheritdoc/>
    public override Guid? PaymentId => Of;

    /// <inheritdoc/>
    public override Decision Decide(Account account, PaymentState? payment, DateTimeOffset now) => payment switch
    {
        null => new Refusal.NoSuchPayment(),
        { IsDeclined: true } => new Refusal.PaymentWasDeclined(),
        _ when payment.Currency != Currency => new Refusal.OtherCurrency(payment.Currency),
        _ when Amount > payment.Charged - payment.Refunded =>
            new Refusal.MoreThanIsLeft(payment.Charged - payment.Refunded),
        _ => new PaymentRefunded(TransactionId, Of, Amount, Currency, now, TraceId)
        {
            Charged = payment.Charged,
            Refunded = payment.Refunded + Amount,
            Held = payment.Held,
            Balance = account.Balance - Amount,
            OnHold = Stated(account.OnHold),
            Status = Stated(account.Status),
            By = By,
            Notes = Notes,
        },
    };
}

/// <summary>A payment was given back, whole or in part.</summary>
/// <param name="TransactionId">The refund's idempotency key.</param>
/// <param name="PaymentId">The transaction id of the payment.</param>
/// <param name="Amount">More than zero.</param>
/// <param name="Currency">ISO 4217; the account's own.</param>
/// <param name="DecidedAt">When it was decided.</param>
/// <param name="TraceId">The id of its trace if it is traced.</param>
public sealed record PaymentRefunded(
    Guid TransactionId, Guid PaymentId, decimal Amount, string Currency,
    DateTimeOffset DecidedAt, string? TraceId = null) : PaymentFollowUp
{
    internal override string AccountCurrency => Currency;

    // A refund leaves what is on hold as it is.
    internal override Guid? EndsHoldOf => null;

    internal override Account ApplyTo(Account account) => account.Next(Currency, charged: -Amount);
}
