using Billing.Contracts;
using Billing.V1;

namespace Billing.Client.Load;

/// <summary>Payments and balance checks of accounts drawn at random. One caller at a time.</summary>
/// <param name="accounts">Accounts of each payment type; at least 1.</param>
/// <param name="random">Decides accounts and amounts; transaction ids are new each time.</param>
/// <param name="otherCurrencyPercent">Payments in euros instead of dollars, 0 to 100.</param>
public sealed class RandomRequests(int accounts, Random random, int otherCurrencyPercent = 0)
{
    /// <summary>What the accounts' ids begin with; their numbers follow, from 0.</summary>
    public const string AccountPrefix = "acct-";

    /// <summary>The next payment, of 1 to 100 dollars or, where that is wished for, euros.</summary>
    public MakePaymentRequest Payment() => new()
    {
        TransactionId = Guid.NewGuid().ToString(),
        AccountId = Account(),
        PaymentType = Type(),
        Amount = new Money { CurrencyCode = Currency(), Units = random.Next(1, 100), Nanos = random.Next(0, 100) * 10_000_000 },
    };

    /// <summary>The next balance check.</summary>
    public CheckBalanceRequest Balance() => new() { AccountId = Account(), PaymentType = Type() };

    /// <summary>Whether the next of a hundred requests is of the given share.</summary>
    /// <param name="percent">The share, 0 to 100.</param>
    public bool IsAmong(int percent) => random.Next(100) < percent;

    private string Currency() => otherCurrencyPercent > 0 && IsAmong(otherCurrencyPercent) ? "EUR" : "USD";

    private string Account() => AccountPrefix + random.Next(accounts);

    private PaymentType Type() => PaymentTypes.All[random.Next(PaymentTypes.All.Count)];
}
