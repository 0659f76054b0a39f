using Billing.V1;

namespace Billing.Backends.Domain;

/// <summary>The command to freeze, close or reopen an account.</summary>
/// <param name="TransactionId">The idempotency key.</param>
/// <param name="To">The status that it is to have; may be the one that it has.</param>
/// <param name="TraceId">The id of its trace if it is traced; stored with the event.</param>
public sealed record AccountStatusChange(Guid TransactionId, AccountStatus To, string? TraceId = null)
    : AccountCommand(TransactionId)
{
    /// <inheritdoc/>
    public override Decision Decide(Account account, PaymentState? payment, DateTimeOffset now) =>
        To == AccountStatus.Closed && (account.Balance != 0 || account.OnHold != 0)
            ? new Refusal.NotEmpty(account.Balance, account.OnHold, account.Currency ?? "")
            : new AccountStatusChanged(TransactionId, now, TraceId)
            {
                Balance = account.Balance,
                OnHold = Stated(account.OnHold),
                Status = Stated(To),
                KeptIn = account.Currency,
                By = By,
                Notes = Notes,
            };
}

/// <summary>The account was frozen, closed or reopened: its status after the event says which.</summary>
/// <param name="TransactionId">The change's idempotency key.</param>
/// <param name="DecidedAt">When it was decided.</param>
/// <param name="TraceId">The id of its trace if it is traced.</param>
public sealed record AccountStatusChanged(Guid TransactionId, DateTimeOffset DecidedAt, string? TraceId = null)
    : AccountEvent
{
    /// <summary>The currency of the account; null if none is fixed yet.</summary>
    public string? KeptIn { get; init; }

    internal override string? AccountCurrency => KeptIn;

    internal override Account ApplyTo(Account account) => account.Next(currency: null) with { Status = AccountStatus };
}
