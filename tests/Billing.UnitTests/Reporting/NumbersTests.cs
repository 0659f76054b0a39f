using Billing.Reporting;

namespace Billing.UnitTests.Reporting;

public sealed class NumbersTests
{
    [Theory]
    [InlineData(0, "0")]
    [InlineData(0.01234, "0.0123")]
    [InlineData(0.9999, "1.00")]
    [InlineData(1.234, "1.23")]
    [InlineData(12.34, "12.3")]
    [InlineData(123.4, "123")]
    [InlineData(56_000, "56,000")]
    [InlineData(-12.34, "-12.3")]
    [InlineData(double.NaN, "–")]
    [InlineData(double.PositiveInfinity, "–")]
    public void A_number_has_3_significant_digits(double value, string text) =>
        Assert.Equal(text, Numbers.Significant(value));

    [Fact]
    public void The_largest_number_of_a_column_decides_the_decimals_of_all()
    {
        Assert.Equal(1, Numbers.Decimals([0.02, 47.3, double.NaN]));
        Assert.Equal(0, Numbers.Decimals([]));
    }
}
