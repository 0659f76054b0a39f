using Billing.Contracts;
using Billing.UnitTests.Testing;
using Billing.V1;
using FsCheck.Fluent;

namespace Billing.UnitTests.Contracts;

public sealed class MoneyExtensionsTests
{
    [Fact]
    public void Units_and_nanos_of_the_same_sign_survive_the_conversion_to_decimal_and_back()
    {
        var money =
            from units in Generate.AnyLong
            from nanos in Gen.Choose(0, 999_999_999)
            select new Money { CurrencyCode = "EUR", Units = units, Nanos = units < 0 ? -nanos : nanos };
        money.Holds(m => Assert.Equal(m, m.ToDecimal().ToMoney("EUR")), tries: 1000);
    }

    [Theory]
    [InlineData(long.MaxValue, 999_999_999, "9223372036854775807.999999999")]
    [InlineData(long.MinValue, -999_999_999, "-9223372036854775808.999999999")]
    [InlineData(0, -1, "-0.000000001")]
    [InlineData(0, 0, "0")]
    public void The_limits_of_the_range_are_converted_exactly(long units, int nanos, string expected)
    {
        var amount = new Money { CurrencyCode = "USD", Units = units, Nanos = nanos };
        Assert.Equal(decimal.Parse(expected, System.Globalization.CultureInfo.InvariantCulture), amount.ToDecimal());
        Assert.Equal(amount, amount.ToDecimal().ToMoney("USD"));
    }

    [Fact]
    public void Trailing_zeros_beyond_the_ninth_decimal_place_are_ignored() =>
        Assert.Equal(Samples.Dollars(1, 500_000_000), 1.5000000000000m.ToMoney("USD"));

    [Theory]
    [InlineData("0.0000000001")]
    [InlineData("-1.0000000001")]
    [InlineData("0.1234567890123456789012345678")]
    public void More_than_nine_decimal_places_are_refused_not_rounded(string amount)
    {
        var e = Assert.Throws<OverflowException>(
            () => decimal.Parse(amount, System.Globalization.CultureInfo.InvariantCulture).ToMoney("USD"));
        Assert.Contains("nine decimal places", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Units_beyond_64_bits_are_refused()
    {
        Assert.Throws<OverflowException>(() => (long.MaxValue + 1m).ToMoney("USD"));
        Assert.Throws<OverflowException>(() => (long.MinValue - 1m).ToMoney("USD"));
    }
}
