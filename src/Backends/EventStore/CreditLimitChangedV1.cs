using Billing.Backends.Domain;

namespace Billing.Backends.EventStore;

/// <summary>A change of a credit limit as it was stored before such changes had an idempotency key.</summary>
/// <param name="Limit">Zero or more.</param>
/// <param name="Currency">ISO 4217.</param>
/// <param name="DecidedAt">When it was decided.</param>
internal sealed record CreditLimitChangedV1(decimal Limit, string Currency, DateTimeOffset DecidedAt)
{
    /// <summary>The name under which it was stored.</summary>
    public const string Name = "credit_limit_changed_v1";

    /// <summary>The same change in the current shape.</summary>
    public CreditLimitChanged Upcast() => new(Guid.Empty, Limit, Currency, DecidedAt);
}
