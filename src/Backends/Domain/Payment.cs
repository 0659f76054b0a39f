using Billing.V1;

namespace Billing.Backends.Domain;

/// <summary>The command to charge an account.</summary>
/// <param name="TransactionId">The idempotency key.</param>
/// <param name="Amount">More than zero.</param>
/// <param name="Currency">ISO 4217.</param>
/// <param name="Times">When it was sent, received and consumed, if its client asked for timing;
/// stored with the event.</param>
/// <param name="TraceId">The id of its trace if it is traced; stored with the event.</param>
public sealed record Payment(
    Guid TransactionId, decimal Amount, string Currency, RequestTimes? Times = null, string? TraceId = null)
    : AccountCommand(TransactionId)
{
    /// <inheritdoc/>
    protected override AccountCommand Contents => (Payment)base.Contents with { Times = null };

    /// <inheritdoc/>
    public override Decision Decide(Account account, PaymentState? payment, DateTimeOffset now) => Decide(account, now);

    /// <summary>Decides the payment: it is accepted or declined, and never refused.</summary>
    public AccountEvent Decide(Account account, DateTimeOffset now) => account.Objection(Amount, Currency) is { } reason
        ? new PaymentDeclined(TransactionId, Amount, Currency, reason, now, Times, TraceId)
        {
            Balance = account.Balance,
            OnHold = Stated(account.OnHold),
            Status = Stated(account.Status),
            KeptIn = account.Currency,
            By = By,
            Notes = Notes,
        }
        : new PaymentAccepted(TransactionId, Amount, Currency, now, Times, TraceId)
        {
            Balance = account.Balance + Amount,
            OnHold = Stated(account.OnHold),
            Status = Stated(account.Status),
            By = By,
            Notes = Notes,
        };
}

/// <summary>A payment was charged to the account.</summary>
/// <param name="TransactionId">The payment's idempotency key.</param>
/// <param name="Amount">More than zero.</param>
/// <param name="Currency">ISO 4217; the account's own.</param>
/// <param name="DecidedAt">When it was decided.</param>
/// <param name="Times">When it was sent, received and consumed, if its client asked for timing.</param>
/// <param name="TraceId">The id of its trace if it is traced.</param>
public sealed record PaymentAccepted(
    Guid TransactionId, decimal Amount, string Currency, DateTimeOffset DecidedAt, RequestTimes? Times = null,
    string? TraceId = null) : AccountEvent
{
    internal override string AccountCurrency => Currency;

    internal override Account ApplyTo(Account account) => account.Next(Currency, charged: Amount);
}

/// <summary>A payment was declined; the balance stays as it was.</summary>
/// <param name="TransactionId">The payment's idempotency key.</param>
/// <param name="Amount">More than zero.</param>
/// <param name="Currency">ISO 4217; may differ from the account's.</param>
/// <param name="Reason">Why.</param>
/// <param name="DecidedAt">When it was decided.</param>
/// <param name="Times">When it was sent, received and consumed, if its client asked for timing.</param>
/// <param name="TraceId">The id of its trace if it is traced.</param>
public sealed record PaymentDeclined(
    Guid TransactionId, decimal Amount, string Currency, DeclineReason Reason, DateTimeOffset DecidedAt,
    RequestTimes? Times = null, string? TraceId = null) : AccountEvent
{
    /// <summary>The currency of the account; null if none is fixed yet.</summary>
    public string? KeptIn { get; init; }

    internal override string? AccountCurrency => KeptIn;

    internal override Account ApplyTo(Account account) => account.Next(currency: null);
}

/// <summary>When a request was sent, received and consumed, each by the clock of the process that noted it.</summary>
/// <param name="SentAt">When its client sent it, as the client states it.</param>
/// <param name="ReceivedAt">When a proxy received it.</param>
/// <param name="ConsumedAt">When a backend consumed it.</param>
public sealed record RequestTimes(DateTimeOffset SentAt, DateTimeOffset ReceivedAt, DateTimeOffset ConsumedAt);
