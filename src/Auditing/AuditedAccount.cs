namespace Billing.Auditing;

/// <summary>An account as the auditor sums it up, and its rule for what an event may be. Both are written apart from the
/// backends' own, from what the contract promises: an audit that shares their code agrees with them also where they are
/// wrong.</summary>
/// <param name="Balance">The sum of the accepted payments.</param>
/// <param name="Limit">What it may owe at most; null where that is not known.</param>
/// <param name="Currency">ISO 4217; null until the first accepted payment or limit.</param>
internal readonly record struct AuditedAccount(decimal Balance, decimal? Limit, string? Currency)
{
    /// <summary>The account after one more event.</summary>
    public AuditedAccount After(StoredFact fact) => fact.Kind switch
    {
        TransactionKind.Accepted => new(Balance + fact.Amount, Limit, Currency ?? fact.Currency),
        TransactionKind.LimitChanged => new(Balance, fact.Amount, Currency ?? fact.Currency),
        _ => this,
    };

    /// <summary>What is wrong with an event of this account, judged by the account before it.</summary>
    /// <returns>For a person; null where nothing is.</returns>
    public string? Fault(StoredFact fact)
    {
        if (fact.Kind == TransactionKind.LimitChanged)
        {
            return fact.Amount < 0 ? "a limit below zero"
                : IsForeign(fact) ? FormattableString.Invariant($"a limit in another currency than the account's {Currency}")
                : null;
        }
        if (fact.Amount <= 0)
        {
            return "a payment that is not above zero";
        }
        if (IsForeign(fact))
        {
            return Unless(fact, StoredFact.OtherCurrency, FormattableString.Invariant($"the account is kept in {Currency}"));
        }
        if (Limit is not { } limit)
        {
            // With an unknown limit both answers may be right; only the reason can be wrong.
            return fact.Kind == TransactionKind.Declined && fact.Reason != StoredFact.LimitExceeded
                ? WrongReason(fact, StoredFact.LimitExceeded)
                : null;
        }
        var after = Balance + fact.Amount;
        if (after > limit)
        {
            return Unless(fact, StoredFact.LimitExceeded, FormattableString.Invariant($"balance {Balance} and the payment are above the limit {limit}"));
        }
        return fact.Kind == TransactionKind.Declined
            ? FormattableString.Invariant($"declined, though balance {Balance} and the payment are within the limit {limit}")
            : null;
    }

    private bool IsForeign(StoredFact fact) => Currency is { } currency && fact.Currency != currency;

    private static string? Unless(StoredFact fact, int reason, string why) =>
        fact.Kind == TransactionKind.Accepted ? "accepted, though " + why
        : fact.Reason != reason ? WrongReason(fact, reason)
        : null;

    private static string WrongReason(StoredFact fact, int reason) =>
        FormattableString.Invariant($"declined for reason {fact.Reason}, which should be {reason}");
}

/// <summary>A snapshot of an account, as the store holds it.</summary>
/// <param name="Version">The version of the account's stream that it is of.</param>
/// <param name="Balance">What the account owed.</param>
/// <param name="Limit">What it might owe at most.</param>
/// <param name="Currency">ISO 4217; null where the account had none.</param>
internal sealed record StoredSnapshot(long Version, decimal Balance, decimal Limit, string? Currency);
