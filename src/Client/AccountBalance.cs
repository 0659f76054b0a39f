using Billing.V1;

namespace Billing.Client;

/// <summary>The balance, the available credit and the credit limit of an account.</summary>
/// <param name="Balance">The amount owed: the sum of the accepted payments.</param>
/// <param name="Available">The available credit: the limit less the balance.</param>
/// <param name="CreditLimit">The maximum balance.</param>
/// <param name="Version">The version of the account that was read; 0 if the account has no events yet.</param>
/// <param name="AsOf">The time of the reading.</param>
public sealed record AccountBalance(Amount Balance, Amount Available, Amount CreditLimit, long Version, DateTimeOffset AsOf)
{
    internal static AccountBalance Of(CheckBalanceResponse answer) => new(
        Amount.Of(answer.Balance), Amount.Of(answer.Available), Amount.Of(answer.CreditLimit), answer.Version,
        answer.AsOf?.ToDateTimeOffset() ?? default);
}
