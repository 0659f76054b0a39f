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
/// <param name="Times">When it came here, where its client asked for that.</param>
/// <param name="TraceId">The trace that it is part of, where it is traced.</param>
public sealed record PaymentAccepted(
    Guid TransactionId, decimal Amount, string Currency, DateTimeOffset DecidedAt, RequestTimes? Times = null,
    string? TraceId = null) : AccountEvent;

/// <summary>A payment was refused; the balance stays as it was.</summary>
/// <param name="TransactionId">The payment's idempotency key.</param>
/// <param name="Amount">More than zero.</param>
/// <param name="Currency">ISO 4217; may differ from the account's.</param>
/// <param name="Reason">Why.</param>
/// <param name="DecidedAt">When it was decided.</param>
/// <param name="Times">When it came here, where its client asked for that.</param>
/// <param name="TraceId">The trace that it is part of, where it is traced.</param>
public sealed record PaymentDeclined(
    Guid TransactionId, decimal Amount, string Currency, DeclineReason Reason, DateTimeOffset DecidedAt,
    RequestTimes? Times = null, string? TraceId = null) : AccountEvent;

/// <summary>The account's credit limit is another from now on.</summary>
/// <param name="TransactionId">The change's idempotency key; empty for a change from before they had one.</param>
/// <param name="Limit">Zero or more.</param>
/// <param name="Currency">ISO 4217; fixes the account's currency where it has none.</param>
/// <param name="DecidedAt">When it was decided.</param>
/// <param name="TraceId">The trace that it is part of, where it is traced.</param>
public sealed record CreditLimitChanged(
    Guid TransactionId, decimal Limit, string Currency, DateTimeOffset DecidedAt, string? TraceId = null) : AccountEvent;

/// <summary>When a request came as far as to be decided, each moment by the clock of whoever it came to.</summary>
/// <param name="SentAt">When its client sent it, by what the client says.</param>
/// <param name="ReceivedAt">When a proxy took it.</param>
/// <param name="ConsumedAt">When a backend took it in.</param>
public sealed record RequestTimes(DateTimeOffset SentAt, DateTimeOffset ReceivedAt, DateTimeOffset ConsumedAt);
