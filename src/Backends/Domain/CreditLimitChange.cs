namespace Billing.Backends.Domain;

/// <summary>The command to set what an account may owe at most.</summary>
/// <param name="TransactionId">The idempotency key.</param>
/// <param name="Limit">Zero or more; may be below what the account owes.</param>
/// <param name="Currency">ISO 4217.</param>
/// <param name="TraceId">The trace that it is part of, where it is traced; the event keeps it.</param>
public sealed record CreditLimitChange(Guid TransactionId, decimal Limit, string Currency, string? TraceId = null)
    : AccountCommand(TransactionId)
{
    /// <inheritdoc/>
    /// <returns>The change; null where the account is kept in another currency.</returns>
    public override AccountEvent? Decide(Account account, DateTimeOffset now) =>
        account.Currency is { } currency && currency != Currency
            ? null
            : new CreditLimitChanged(TransactionId, Limit, Currency, now, TraceId);
}
