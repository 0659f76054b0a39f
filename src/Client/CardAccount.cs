using Billing.Contracts;
using Billing.V1;

namespace Billing.Client;

/// <summary>A card account: the same id stands for different accounts on different card networks.</summary>
public sealed record CardAccount
{
    /// <summary>Creates the reference to an account.</summary>
    /// <param name="type">The card network it belongs to.</param>
    /// <param name="id">1 to 64 characters out of A-Z a-z 0-9 . _ -</param>
    /// <exception cref="ArgumentException">The type is not a card network, or the id is not of that form; the message says which.
    /// </exception>
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

    /// <summary>The account's id on that network.</summary>
    public string Id { get; }

    /// <summary>The account as it appears in the platform's logs and events, e.g. <c>visa/acct-42</c>.</summary>
    public override string ToString() => StreamId.For(Type, Id);
}
