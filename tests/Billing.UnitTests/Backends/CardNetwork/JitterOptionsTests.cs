using Billing.Backends.CardNetwork;
using Billing.Hosting;

namespace Billing.UnitTests.Backends.CardNetwork;

public sealed class JitterOptionsTests
{
    [Fact]
    public void The_defaults_are_valid() => Assert.Empty(new JitterOptions().ValidationErrors());

    [Fact]
    public void A_range_of_one_value_is_valid() =>
        Assert.Empty(new JitterOptions { PaymentMin = TimeSpan.Zero, PaymentMax = TimeSpan.Zero }.ValidationErrors());

    [Fact]
    public void Negative_or_reversed_ranges_are_reported()
    {
        var negative = new JitterOptions { PaymentMin = TimeSpan.FromMilliseconds(-1), BalanceMin = TimeSpan.FromMilliseconds(-1) };
        var reversed = new JitterOptions { PaymentMin = TimeSpan.FromSeconds(2), BalanceMin = TimeSpan.FromSeconds(6) };
        foreach (var options in new[] { negative, reversed })
        {
            Assert.Collection(
                options.ValidationErrors(),
                problem => Assert.StartsWith("Billing:Jitter:PaymentMin", problem, StringComparison.Ordinal),
                problem => Assert.StartsWith("Billing:Jitter:BalanceMin", problem, StringComparison.Ordinal));
        }
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(1_000_001)]
    public void A_concurrency_limit_out_of_range_is_reported(int bound) => Assert.StartsWith(
        "Billing:Jitter:ConcurrencyMax",
        Assert.Single(SettingsValidation.Problems(new JitterOptions { ConcurrencyMax = bound }, JitterOptions.Section)), StringComparison.Ordinal);
}
