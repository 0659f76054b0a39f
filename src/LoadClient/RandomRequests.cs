using Billing.Contracts;
using Billing.V1;

namespace Billing.LoadClient;

/// <summary>Payments and balance checks for random accounts. Not thread-safe.</summary>
/// <param name="accounts">Number of accounts of each payment type; at least 1.</param>
/// <param name="random">Chooses accounts and amounts; transaction ids do not depend on it.</param>
/// <param name="otherCurrencyPercent">Share of payments in euros instead of dollars, in percent, 0 to 100.</param>
public sealed class RandomRequests(int accounts, Random random, int otherCurrencyPercent = 0)
{
    /// <summary>The prefix of the accounts' ids, followed by their numbers, from 0.</summary>
    public const string AccountPrefix = "acct-";

    /// <summary>The next payment, of 1 to 100 dollars or, for the given share of payments, euros.</summary>
    public MakePaymentRequest Payment() => new()
    {
        TransactionId = Guid.NewGuid().ToString(),
        AccountId = Account(),
        PaymentType = Type(),
        Amount = new Money { CurrencyCode = Currency(), Units = random.Next(1, 100), Nanos = random.Next(0, 100) * 10_000_000 },
    };

    /// <summary>The next balance check.</summary>
    public CheckBalanceRequest Balance() => new() { AccountId = Account(), PaymentType = Type() };

    /// <summary>True at random, with the given probability.</summary>
    /// <param name="percent">The probability in percent, 0 to 100.</param>
    public bool IsAmong(int percent) => random.Next(100) < percent;

    private string Currency() => otherCurrencyPercent > 0 && IsAmong(otherCurrencyPercent) ? "EUR" : "USD";

    private string Account() => AccountPrefix + random.Next(accounts);

    private PaymentType Type() => PaymentTypes.All[random.Next(PaymentTypes.All.Count)];
}
