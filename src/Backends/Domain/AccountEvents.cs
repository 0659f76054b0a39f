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
/// <param name="Times">When it was sent, received and consumed, if its client asked for timing.</param>
/// <param name="TraceId">The id of its trace if it is traced.</param>
public sealed record PaymentAccepted(
    Guid TransactionId, decimal Amount, string Currency, DateTimeOffset DecidedAt, RequestTimes? Times = null,
    string? TraceId = null) : AccountEvent;

/// <summary>A payment was refused; the balance stays as it was.</summary>
/// <param name="TransactionId">The payment's idempotency key.</param>
/// <param name="Amount">More than zero.</param>
/// <param name="Currency">ISO 4217; may differ from the account's.</param>
/// <param name="Reason">Why.</param>
/// <param name="DecidedAt">When it was decided.</param>
/// <param name="Times">When it was sent, received and consumed, if its client asked for timing.</param>
/// <param name="TraceId">The id of its trace if it is traced.</param>
public sealed record PaymentDeclined(
    Guid TransactionId, decimal Amount, string Currency, DeclineReason Reason, DateTimeOffset DecidedAt,
    RequestTimes? Times = null, string? TraceId = null) : AccountEvent;

/// <summary>The account's credit limit was changed.</summary>
/// <param name="TransactionId">The change's idempotency key; empty for a change recorded before changes had one.</param>
/// <param name="Limit">Zero or more.</param>
/// <param name="Currency">ISO 4217; becomes the account's currency if it has none.</param>
/// <param name="DecidedAt">When it was decided.</param>
/// <param name="TraceId">The id of its trace if it is traced.</param>
public sealed record CreditLimitChanged(
    Guid TransactionId, decimal Limit, string Currency, DateTimeOffset DecidedAt, string? TraceId = null) : AccountEvent;

/// <summary>When a request was sent, received and consumed, each by the clock of the process that noted it.</summary>
/// <param name="SentAt">When its client sent it, as the client states it.</param>
/// <param name="ReceivedAt">When a proxy received it.</param>
/// <param name="ConsumedAt">When a backend consumed it.</param>
public sealed record RequestTimes(DateTimeOffset SentAt, DateTimeOffset ReceivedAt, DateTimeOffset ConsumedAt);
