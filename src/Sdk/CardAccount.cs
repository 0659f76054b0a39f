using Billing.Contracts;
using Billing.V1;

namespace Billing.Client;

/// <summary>A card account: an id names a different one on each card network.</summary>
public sealed record CardAccount
{
    /// <summary>Names an account.</summary>
    /// <param name="type">The card network it belongs to.</param>
    /// <param name="id">1 to 64 characters out of A-Z a-z 0-9 . _ -</param>
    /// <exception cref="ArgumentException">The type is none, or the id is not of that form; the message says which.</exception>
    public CardAccount(PaymentType type, string id)
    {
        ArgumentNullException.ThrowIfNull(id);
        Type = type;
        Id = id;
        if (FieldRules.Check(new CheckBalanceRequest { PaymentType = type, AccountId = id }) is { } violation)
        {
            throw new ArgumentException(violation.ToString(), violation.Field == "account_id" ? nameof(id) : nameof(type));
        }
    }

    /// <summary>The card network.</summary>
    public PaymentType Type { get; }

    /// <summary>The account's id there.</summary>
    public string Id { get; }

    /// <summary>The account as the platform's logs and events name it, e.g. <c>visa/acct-42</c>.</summary>
    public override string ToString() => StreamId.For(Type, Id);
}
