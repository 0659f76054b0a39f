using Billing.Contracts;
using Billing.V1;

namespace Billing.Client;

/// <summary>A card account: the same id stands for different accounts on different card networks.</summary>
public sealed record CardAccount
{
    /// <summary>Creates the reference to an account.</summary>
    /// <param name="network">The card network it belongs to.</param>
    /// <param name="id">1 to 64 characters out of A-Z a-z 0-9 . _ -</param>
    /// <exception cref="ArgumentException">There is no such network, or the id is not of that form;
    /// the message says which.</exception>
    public CardAccount(CardNetwork network, string id)
    {
        ArgumentNullException.ThrowIfNull(id);
        Network = network;
        Id = id;
        if (FieldRules.CheckAccount(Type, id) is { } violation)
        {
            throw new ArgumentException(
                violation.ToString(), violation.Field == "account_id" ? nameof(id) : nameof(network));
        }
    }

    /// <summary>The card network.</summary>
    public CardNetwork Network { get; }

    /// <summary>The account's id on that network.</summary>
    public string Id { get; }

    internal PaymentType Type => (PaymentType)Network;

    /// <summary>The account as it appears in the platform's logs and events, e.g. <c>visa/acct-42</c>.</summary>
    public override string ToString() => StreamId.For(Type, Id);
}

/// <summary>The card networks.</summary>
public enum CardNetwork
{
    /// <summary>None; not valid in a request.</summary>
    None,

    /// <summary>Visa.</summary>
    Visa,

    /// <summary>Mastercard.</summary>
    Mastercard,

    /// <summary>Discover.</summary>
    Discover,

    /// <summary>American Express.</summary>
    Amex,
}

/// <summary>The balance, the available credit and the credit limit of an account.</summary>
/// <param name="Balance">The amount owed: the sum of the accepted payments without what was given back.</param>
/// <param name="Available">The available credit: the limit less the balance and what is on hold.</param>
/// <param name="CreditLimit">The maximum balance.</param>
/// <param name="Version">The version of the account that was read; 0 if the account has no events yet.</param>
/// <param name="AsOf">The time of the reading.</param>
public sealed record AccountBalance(
    Amount Balance, Amount Available, Amount CreditLimit, long Version, DateTimeOffset AsOf)
{
    /// <summary>What is on hold: authorised, and neither captured nor released.</summary>
    public Amount OnHold { get; init; } = Amount.Of(0, Balance.Currency);

    /// <summary>Whether the account takes payments.</summary>
    public AccountStatus Status { get; init; } = AccountStatus.Open;

    internal static AccountBalance Of(CheckBalanceResponse answer) => new(
        Amount.Of(answer.Balance), Amount.Of(answer.Available), Amount.Of(answer.CreditLimit), answer.Version,
        Outcomes.TimeOf(answer.ReadTime))
    {
        OnHold = answer.OnHold is { } held ? Amount.Of(held) : Amount.Of(0, answer.Balance?.CurrencyCode),
        Status = (AccountStatus)answer.AccountStatus,
    };
}

/// <summary>The balance, the available credit and the credit limit of an account as they were after one of its events,
/// or before all of them.</summary>
/// <param name="Balance">The amount owed.</param>
/// <param name="Available">The available credit: the limit less the balance and what was on hold.</param>
/// <param name="CreditLimit">The maximum balance; until it was first set, what the platform gives
/// to accounts today.</param>
/// <param name="OnHold">What was on hold: authorised, and neither captured nor released.</param>
/// <param name="Version">The version of that event; 0 before all events.</param>
/// <param name="DecidedAt">When that event was decided; null before all events.</param>
public sealed record PastBalance(
    Amount Balance, Amount Available, Amount CreditLimit, Amount OnHold, long Version, DateTimeOffset? DecidedAt)
{
    /// <summary>Whether the account took payments.</summary>
    public AccountStatus Status { get; init; } = AccountStatus.Open;

    internal static PastBalance Of(GetBalanceAtResponse answer) => new(
        Amount.Of(answer.Balance), Amount.Of(answer.Available), Amount.Of(answer.CreditLimit), Amount.Of(answer.OnHold),
        answer.Version, answer.DecideTime?.ToDateTimeOffset())
    {
        Status = (AccountStatus)answer.AccountStatus,
    };
}
