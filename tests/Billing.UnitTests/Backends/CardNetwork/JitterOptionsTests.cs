using Billing.Backends.CardNetwork;

namespace Billing.UnitTests.Backends.CardNetwork;

public sealed class JitterOptionsTests
{
    [Fact]
    public void The_defaults_have_no_problem() => Assert.Empty(new JitterOptions().Problems());

    [Fact]
    public void A_range_of_one_value_is_a_range() =>
        Assert.Empty(new JitterOptions { PaymentMin = TimeSpan.Zero, PaymentMax = TimeSpan.Zero }.Problems());

    [Fact]
    public void Ranges_that_are_negative_or_upside_down_are_named()
    {
        var negative = new JitterOptions { PaymentMin = TimeSpan.FromMilliseconds(-1), BalanceMin = TimeSpan.FromMilliseconds(-1) };
        var reversed = new JitterOptions { PaymentMin = TimeSpan.FromSeconds(2), BalanceMin = TimeSpan.FromSeconds(6) };
        foreach (var options in new[] { negative, reversed })
        {
            Assert.Collection(
                options.Problems(),
                problem => Assert.StartsWith("Billing:Jitter:PaymentMin", problem, StringComparison.Ordinal),
                problem => Assert.StartsWith("Billing:Jitter:BalanceMin", problem, StringComparison.Ordinal));
        }
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(1_000_001)]
    public void A_bound_that_is_none_is_named(int bound) => Assert.StartsWith(
        "Billing:Jitter:ConcurrencyMax",
        Assert.Single(new JitterOptions { ConcurrencyMax = bound }.Problems()), StringComparison.Ordinal);
}
