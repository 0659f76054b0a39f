using Billing.V1;

namespace Billing.Client;

/// <summary>What an account owes, and what it may still spend.</summary>
/// <param name="Balance">What it owes: the sum of its accepted payments.</param>
/// <param name="Available">What it may still spend: the limit less the balance.</param>
/// <param name="CreditLimit">What it may owe at most.</param>
/// <param name="Version">The version of the account that this is of; 0 where nothing happened to it yet.</param>
/// <param name="AsOf">When it was so.</param>
public sealed record AccountBalance(Amount Balance, Amount Available, Amount CreditLimit, long Version, DateTimeOffset AsOf)
{
    internal static AccountBalance Of(CheckBalanceResponse answer) => new(
        Amount.Of(answer.Balance), Amount.Of(answer.Available), Amount.Of(answer.CreditLimit), answer.Version,
        answer.AsOf?.ToDateTimeOffset() ?? default);
}
