using Billing.V1;

namespace Billing.Contracts;

/// <summary>Exact conversions between <see cref="Money"/> and <see cref="decimal"/>.</summary>
public static class MoneyExtensions
{
    /// <summary>Billionths in one unit.</summary>
    public const int NanosPerUnit = 1_000_000_000;

    /// <summary>The amount as a decimal. Exact: 19 digits of units and 9 of nanos fit the 28
    /// digits of a decimal.</summary>
    public static decimal ToDecimal(this Money money) => money.Units + (decimal)money.Nanos / NanosPerUnit;

    /// <summary>Converts a decimal to money in a currency.</summary>
    /// <exception cref="OverflowException">The amount has more than nine decimal places or does not fit
    /// 64 bits of units.</exception>
    public static Money ToMoney(this decimal amount, string currencyCode)
    {
        var units = decimal.Truncate(amount);
        var nanos = (amount - units) * NanosPerUnit;
        if (decimal.Truncate(nanos) != nanos)
        {
            throw new OverflowException($"{amount} has more than nine decimal places.");
        }
        return new Money
        {
            CurrencyCode = currencyCode,
            Units = decimal.ToInt64(units),
            Nanos = decimal.ToInt32(nanos),
        };
    }
}
