using Billing.V1;

namespace Billing.Backends.Domain;

/// <summary>A fact about one account. Facts are never changed; a new shape is a new type with an upcast from the old one.
/// </summary>
public abstract record AccountEvent;

/// <summary>A payment was charged to the account.</summary>
/// <param name="TransactionId">The payment's idempotency key.</param>
/// <param name="Amount">More than zero.</param>
/// <param name="Currency">ISO 4217; the account's own.</param>
/// <param name="DecidedAt">When it was decided.</param>
public sealed record PaymentAccepted(Guid TransactionId, decimal Amount, string Currency, DateTimeOffset DecidedAt)
    : AccountEvent;

/// <summary>A payment was refused; the balance stays as it was.</summary>
/// <param name="TransactionId">The payment's idempotency key.</param>
/// <param name="Amount">More than zero.</param>
/// <param name="Currency">ISO 4217; may differ from the account's.</param>
/// <param name="Reason">Why.</param>
/// <param name="DecidedAt">When it was decided.</param>
public sealed record PaymentDeclined(
    Guid TransactionId, decimal Amount, string Currency, DeclineReason Reason, DateTimeOffset DecidedAt) : AccountEvent;

/// <summary>The account's credit limit is another from now on.</summary>
/// <param name="TransactionId">The change's idempotency key; empty for a change from before they had one.</param>
/// <param name="Limit">Zero or more.</param>
/// <param name="Currency">ISO 4217; fixes the account's currency where it has none.</param>
/// <param name="DecidedAt">When it was decided.</param>
public sealed record CreditLimitChanged(Guid TransactionId, decimal Limit, string Currency, DateTimeOffset DecidedAt)
    : AccountEvent;
