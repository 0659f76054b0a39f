namespace Billing.Auditing;

/// <summary>An account as computed by the auditor, with the rules for valid events. Both are implemented from the
/// contract, independently of the backends: an audit that shared their code would repeat their mistakes.</summary>
/// <param name="Balance">The sum of the accepted payments without what was given back.</param>
/// <param name="Limit">The credit limit; null until one is set.</param>
/// <param name="Currency">The currency (ISO 4217); null until the first accepted payment or limit.</param>
internal readonly record struct AuditedAccount(decimal Balance, decimal? Limit, string? Currency)
{
    /// <summary>What is on hold.</summary>
    public decimal OnHold { get; init; }

    /// <summary>Its status: a number of the contract's AccountStatus.</summary>
    public int Status { get; init; } = StoredFact.Open;

    /// <summary>Returns the account after one more event.</summary>
    public AuditedAccount After(StoredFact fact) => fact.Kind switch
    {
        TransactionKind.Accepted => this with { Balance = Balance + fact.Amount, Currency = Currency ?? fact.Currency },
        TransactionKind.Authorised => this with { OnHold = OnHold + fact.Amount, Currency = Currency ?? fact.Currency },
        TransactionKind.Refunded => this with { Balance = Balance - fact.Amount },
        TransactionKind.Captured or TransactionKind.Voided or TransactionKind.Expired => this with
        {
            Balance = Balance + fact.Amount,
            OnHold = OnHold - fact.Amount - fact.Released,
        },
        TransactionKind.LimitChanged => this with { Limit = fact.Amount, Currency = Currency ?? fact.Currency },
        TransactionKind.StatusChanged => this with { Status = fact.Status },
        _ => this,
    };

    /// <summary>Checks the next event of this account against the rules.</summary>
    /// <param name="fact">The event.</param>
    /// <param name="openingLimits">The limits, by currency, before one is set; null if unknown.</param>
    /// <returns>The violation as text; null if there is none.</returns>
    public string? Fault(StoredFact fact, IReadOnlyDictionary<string, decimal>? openingLimits)
    {
        if (fact.Kind == TransactionKind.LimitChanged)
        {
            return fact.Amount < 0 ? "a limit below zero"
                : IsForeign(
                    fact) ? FormattableString.Invariant($"a limit in another currency than the account's {Currency}")
                : null;
        }
        if (fact.Kind == TransactionKind.StatusChanged)
        {
            return fact.Status is not (StoredFact.Open or StoredFact.Frozen or StoredFact.Closed)
                ? FormattableString.Invariant($"an unknown status {fact.Status}")
                : fact.Status == StoredFact.Closed && (Balance != 0
                    || OnHold != 0) ? FormattableString.Invariant($"closed with balance {Balance}{Held}")
                : null;
        }
        if (fact.Amount <= 0 && fact.Kind is not (TransactionKind.Voided or TransactionKind.Expired))
        {
            return "an amount that is not above zero";
        }
        if (fact.Payment is not null)
        {
            return IsForeign(fact)
                ? FormattableString.Invariant($"in another currency than the account's {Currency}")
                : null;
        }
        if (Status != StoredFact.Open)
        {
            return Status == StoredFact.Frozen
                ? Unless(fact, StoredFact.AccountFrozen, "the account is frozen")
                : Unless(fact, StoredFact.AccountClosed, "the account is closed");
        }
        if (IsForeign(fact))
        {
            return Unless(
                fact, StoredFact.OtherCurrency, FormattableString.Invariant($"the account is kept in {Currency}"));
        }
        if ((Limit ?? openingLimits?.GetValueOrDefault(fact.Currency)) is not { } limit)
        {
            // With an unknown limit both outcomes can be right; only the reason can be wrong.
            return IsDeclined(fact) && fact.Reason != StoredFact.LimitExceeded
                ? WrongReason(fact, StoredFact.LimitExceeded)
                : null;
        }
        var after = Balance + OnHold + fact.Amount;
        if (after > limit)
        {
            return Unless(
                fact, StoredFact.LimitExceeded,
                FormattableString.Invariant($"balance {Balance}{Held} and the payment are above the limit {limit}"));
        }
        return IsDeclined(fact)
            ? FormattableString.Invariant($"declined, though balance {Balance}{Held} and the payment are within the ")
                + FormattableString.Invariant($"limit {limit}")
            : null;
    }

    private string Held => OnHold == 0 ? "" : FormattableString.Invariant($", {OnHold} on hold");

    private static bool IsDeclined(StoredFact fact) =>
        fact.Kind is TransactionKind.Declined or TransactionKind.AuthorisationDeclined;

    private bool IsForeign(StoredFact fact) => Currency is { } currency && fact.Currency != currency;

    private static string? Unless(StoredFact fact, int reason, string why) =>
        !IsDeclined(fact) ? "accepted, though " + why
        : fact.Reason != reason ? WrongReason(fact, reason)
        : null;

    private static string WrongReason(StoredFact fact, int reason) =>
        FormattableString.Invariant($"declined for reason {fact.Reason}, which should be {reason}");
}
