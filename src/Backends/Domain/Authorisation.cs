using Billing.V1;

namespace Billing.Backends.Domain;

/// <summary>The command to put an amount on hold.</summary>
/// <param name="TransactionId">The idempotency key, and the id of the payment for all that follows.</param>
/// <param name="Amount">More than zero.</param>
/// <param name="Currency">ISO 4217.</param>
/// <param name="StandsFor">How long it stays on hold.</param>
/// <param name="TraceId">The id of its trace if it is traced; stored with the event.</param>
public sealed record Authorisation(
    Guid TransactionId, decimal Amount, string Currency, TimeSpan StandsFor, string? TraceId = null)
    : AccountCommand(TransactionId)
{
    /// <inheritdoc/>
    public override Decision Decide(Account account, PaymentState? payment, DateTimeOffset now) =>
        account.Objection(Amount, Currency) is { } reason
            ? new AuthorisationDeclined(TransactionId, Amount, Currency, reason, now, TraceId)
            {
                Balance = account.Balance,
                OnHold = Stated(account.OnHold),
                Status = Stated(account.Status),
                KeptIn = account.Currency,
                By = By,
                Notes = Notes,
            }
            : new PaymentAuthorised(TransactionId, Amount, Currency, now + StandsFor, now, TraceId)
            {
                Balance = account.Balance,
                OnHold = account.OnHold + Amount,
                Status = Stated(account.Status),
                By = By,
                Notes = Notes,
            };
}

/// <summary>An amount was put on hold.</summary>
/// <param name="TransactionId">The payment's idempotency key.</param>
/// <param name="Amount">More than zero.</param>
/// <param name="Currency">ISO 4217; the account's own.</param>
/// <param name="ExpiresAt">Until when it stays on hold.</param>
/// <param name="DecidedAt">When it was decided.</param>
/// <param name="TraceId">The id of its trace if it is traced.</param>
public sealed record PaymentAuthorised(
    Guid TransactionId, decimal Amount, string Currency, DateTimeOffset ExpiresAt,
    DateTimeOffset DecidedAt, string? TraceId = null) : AccountEvent
{
    internal override string AccountCurrency => Currency;

    internal override DateTimeOffset? HoldUntil => ExpiresAt;

    internal override Account ApplyTo(Account account) => account.Next(Currency, held: Amount);
}

/// <summary>An amount was not put on hold; the account stays as it was.</summary>
/// <param name="TransactionId">The payment's idempotency key.</param>
/// <param name="Amount">More than zero.</param>
/// <param name="Currency">ISO 4217; may differ from the account's.</param>
/// <param name="Reason">Why.</param>
/// <param name="DecidedAt">When it was decided.</param>
/// <param name="TraceId">The id of its trace if it is traced.</param>
public sealed record AuthorisationDeclined(
    Guid TransactionId, decimal Amount, string Currency, DeclineReason Reason,
    DateTimeOffset DecidedAt, string? TraceId = null) : AccountEvent
{
    /// <summary>The currency of the account; null if none is fixed yet.</summary>
    public string? KeptIn { get; init; }

    internal override string? AccountCurrency => KeptIn;

    internal override Account ApplyTo(Account account) => account.Next(currency: null);
}
