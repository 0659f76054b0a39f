using System.Globalization;
using Billing.Contracts;
using Billing.V1;

namespace Billing.Client;

/// <summary>An amount of money in one currency.</summary>
public sealed record Amount
{
    /// <summary>Creates an amount.</summary>
    /// <param name="value">Between -10^15 and 10^15, with at most the currency's decimal places.</param>
    /// <param name="currency">One of <see cref="Currencies"/>, e.g. <c>USD</c>.</param>
    /// <exception cref="ArgumentException">There is no such currency.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The value has more decimal places, or is out of range.</exception>
    public Amount(decimal value, string currency)
        : this(currency, value)
    {
        ArgumentNullException.ThrowIfNull(currency);
        if (Currencies.DecimalsOf(currency) is not { } decimals)
        {
            throw new ArgumentException(
                $"'{currency}' is not a currency of ISO 4217 that is in use.", nameof(currency));
        }
        ArgumentOutOfRangeException.ThrowIfGreaterThan(decimal.Abs(value), FieldRules.LimitUnitsMax, nameof(value));
        if (decimal.Round(value, decimals) != value)
        {
            throw new ArgumentOutOfRangeException(nameof(value), value,
                string.Create(
                    CultureInfo.InvariantCulture, $"An amount in {currency} has at most {decimals} decimal places."));
        }
    }

    // For answers: takes the platform's values without validation.
    private Amount(string currency, decimal value)
    {
        Value = value;
        Currency = currency;
    }

    /// <summary>The value, in units of the currency.</summary>
    public decimal Value { get; }

    /// <summary>The ISO 4217 code; empty in the balance of an account that has no currency yet.</summary>
    public string Currency { get; }

    /// <summary>The amount and its currency, e.g. <c>12.34 USD</c>.</summary>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Value} {Currency}").TrimEnd();

    internal static Amount Of(Money? money) =>
        money is null ? new Amount("", 0m) : new Amount(money.CurrencyCode, money.ToDecimal());

    internal static Amount Of(decimal value, string? currency) => new(currency ?? "", value);

    internal Money ToMoney() => Value.ToMoney(Currency);
}
