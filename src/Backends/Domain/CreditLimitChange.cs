namespace Billing.Backends.Domain;

/// <summary>The command to set an account's credit limit.</summary>
/// <param name="TransactionId">The idempotency key.</param>
/// <param name="Limit">Zero or more; may be below what the account owes.</param>
/// <param name="Currency">ISO 4217.</param>
/// <param name="TraceId">The id of its trace if it is traced; stored with the event.</param>
public sealed record CreditLimitChange(Guid TransactionId, decimal Limit, string Currency, string? TraceId = null)
    : AccountCommand(TransactionId)
{
    /// <inheritdoc/>
    public override Decision Decide(Account account, PaymentState? payment, DateTimeOffset now) =>
        account.Currency is { } currency && currency != Currency
            ? new Refusal.OtherCurrency(currency)
            : new CreditLimitChanged(TransactionId, Limit, Currency, now, TraceId)
            {
                Balance = account.Balance,
                OnHold = Stated(account.OnHold),
                Status = Stated(account.Status),
                By = By,
            };
}

/// <summary>The account's credit limit was changed.</summary>
/// <param name="TransactionId">The change's idempotency key.</param>
/// <param name="Limit">Zero or more.</param>
/// <param name="Currency">ISO 4217; becomes the account's currency if it has none.</param>
/// <param name="DecidedAt">When it was decided.</param>
/// <param name="TraceId">The id of its trace if it is traced.</param>
public sealed record CreditLimitChanged(
    Guid TransactionId, decimal Limit, string Currency, DateTimeOffset DecidedAt, string? TraceId = null) : AccountEvent
{
    internal override string AccountCurrency => Currency;

    internal override Account ApplyTo(Account account) => account.Next(Currency) with { CreditLimit = Limit };
}
