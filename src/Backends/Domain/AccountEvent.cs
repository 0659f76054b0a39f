namespace Billing.Backends.Domain;

/// <summary>A fact about one account. Facts are never changed; a new shape is a new type with an upcast from the old one.
/// </summary>
public abstract record AccountEvent
{
    /// <summary>The idempotency key of the command that caused it; empty for one recorded before such commands had a key.</summary>
    public abstract Guid TransactionId { get; init; }

    /// <summary>When it was decided.</summary>
    public abstract DateTimeOffset DecidedAt { get; init; }

    /// <summary>The account after this event.</summary>
    internal abstract Account ApplyTo(Account account);
}
