namespace Billing.Backends.Domain;

/// <summary>A command to change an account.</summary>
/// <param name="TransactionId">The idempotency key.</param>
public abstract record AccountCommand(Guid TransactionId)
{
    /// <summary>Who sent it; recorded with the event. Null if that is not known.</summary>
    public Sender? By { get; init; }

    /// <summary>Decides the command. The result depends only on the account, the command and the time.</summary>
    /// <returns>The event; null if the command does not fit the account, so that there is nothing to record.</returns>
    public abstract AccountEvent? Decide(Account account, DateTimeOffset now);
}
