using Billing.Hosting;
using Billing.Proxy;

namespace Billing.UnitTests.Proxy;

public sealed class ProxyOptionsTests
{
    [Fact]
    public void The_defaults_have_no_problem() => Assert.Empty(new ProxyOptions().ValidationErrors());

    [Theory]
    [InlineData(0, 10)]
    [InlineData(11, 10)]
    public void A_default_deadline_out_of_range_is_reported_by_name(int seconds, int maxSeconds)
    {
        var options = new ProxyOptions
        {
            DeadlineDefault = TimeSpan.FromSeconds(seconds),
            DeadlineMax = TimeSpan.FromSeconds(maxSeconds),
        };
        var problem = Assert.Single(options.ValidationErrors());
        Assert.StartsWith("Billing:Proxy:DeadlineDefault", problem, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(-1)]
    [InlineData(86_401)]
    public void An_idle_time_out_of_range_is_reported_by_name(int seconds) => Assert.StartsWith(
        "Billing:Proxy:StreamIdleMax",
        Assert.Single(new ProxyOptions { StreamIdleMax = TimeSpan.FromSeconds(seconds) }.ValidationErrors()),
        StringComparison.Ordinal);

    [Fact]
    public void Numbers_out_of_range_are_reported_by_name()
    {
        var options = new ProxyOptions { StreamPercent = 0, ConnectionsMax = 0, RequestBytesMax = 255 };

        Assert.Equal(
            ["Billing:Proxy:ConnectionsMax", "Billing:Proxy:RequestBytesMax", "Billing:Proxy:StreamPercent"],
            SettingsValidation.Problems(options, ProxyOptions.Section).Select(problem => problem.Split(' ')[0]).Order(StringComparer.Ordinal));
    }

    [Fact]
    public void A_negative_drain_timeout_is_reported_by_name() => Assert.StartsWith(
        "Billing:Proxy:DrainTimeout",
        Assert.Single(new ProxyOptions { DrainTimeout = TimeSpan.FromTicks(-1) }.ValidationErrors()),
        StringComparison.Ordinal);

    [Fact]
    public void A_stream_window_above_the_in_flight_limit_is_reported_with_both_settings() => Assert.Equal(
        "Billing:Proxy:StreamWindow (256) must not be above Billing:Proxy:InFlightMax (255).",
        Assert.Single(new ProxyOptions { InFlightMax = 255 }.ValidationErrors()));
}
