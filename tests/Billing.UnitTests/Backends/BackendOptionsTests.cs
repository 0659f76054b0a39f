using Billing.Backends;
using Billing.Hosting;

namespace Billing.UnitTests.Backends;

public sealed class BackendOptionsTests
{
    [Fact]
    public void The_defaults_are_valid() => Assert.Empty(new BackendOptions().ValidationErrors());

    [Fact]
    public void A_batch_size_above_the_limit_of_commands_in_flight_is_reported_with_both_settings()
    {
        var problem = Assert.Single(new BackendOptions { BatchMax = 11, InFlightMax = 10 }.ValidationErrors());
        Assert.Contains("Billing:Backend:BatchMax (11)", problem, StringComparison.Ordinal);
        Assert.Contains("Billing:Backend:InFlightMax (10)", problem, StringComparison.Ordinal);
        Assert.Empty(new BackendOptions { BatchMax = 10, InFlightMax = 10 }.ValidationErrors());
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(60_001)]
    public void A_wait_for_a_version_out_of_range_is_reported(int milliseconds) => Assert.Contains(
        "Billing:Backend:MinVersionWait",
        Assert.Single(new BackendOptions { MinVersionWait = TimeSpan.FromMilliseconds(milliseconds) }.ValidationErrors()),
        StringComparison.Ordinal);

    [Fact]
    public void A_zero_time_for_which_the_store_may_be_unavailable_is_reported() => Assert.StartsWith(
        "Billing:Backend:StoreUnavailableMax", Assert.Single(new BackendOptions { StoreUnavailableMax = TimeSpan.Zero }.ValidationErrors()), StringComparison.Ordinal);

    [Fact]
    public void Settings_out_of_range_are_reported()
    {
        var options = new BackendOptions { BatchMax = 0, InFlightMax = 0, CachedAccountsMax = 0, DefaultCreditLimit = -1 };
        Assert.Equal(
            [
                "Billing:Backend:BatchMax must be between 1 and 10000; it is 0.", "Billing:Backend:CachedAccountsMax must be between 1 and 10000000; it is 0.",
                "Billing:Backend:DefaultCreditLimit must be between 0 and 1000000000000000; it is -1.", "Billing:Backend:InFlightMax must be between 1 and 1000000; it is 0.",
            ],
            SettingsValidation.Problems(options, BackendOptions.Section).Order(StringComparer.Ordinal));
    }
}
