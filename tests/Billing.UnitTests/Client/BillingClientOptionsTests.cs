using Billing.Client;

namespace Billing.UnitTests.Client;

public sealed class BillingClientOptionsTests
{
    [Theory]
    [InlineData("http://localhost:5000")]
    [InlineData("https://billing.example/")]
    [InlineData("dns:///billing.example:5000")]
    [InlineData("dns:///billing-headless.billing.svc.cluster.local")]
    public void An_http_or_https_address_is_valid(string address) => Assert.Empty(With(address).ValidationErrors());

    [Theory]
    [InlineData("localhost:5000")]
    [InlineData("/relative")]
    [InlineData("ftp://localhost")]
    [InlineData("dns:///")]
    [InlineData("dns:billing.example:5000")]
    [InlineData("dns://10.0.0.53/billing.example:5000")]
    [InlineData("dns:///billing.example:5000/path")]
    [InlineData("dns:///billing.example:port")]
    [InlineData("")]
    public void An_invalid_address_is_named(string address)
    {
        var problem = Assert.Single(With("http://localhost:5000", address).ValidationErrors());
        Assert.StartsWith($"Billing:Client:Proxies: '{address}'", problem, StringComparison.Ordinal);
    }

    public static TheoryData<string, TimeSpan> TimesOutOfRange => new()
    {
        { nameof(BillingClientOptions.Deadline), TimeSpan.Zero },
        { nameof(BillingClientOptions.Deadline), Timeout.InfiniteTimeSpan },
        { nameof(BillingClientOptions.Deadline), TimeSpan.MaxValue },
        { nameof(BillingClientOptions.Deadline), TimeSpan.MinValue },
        { nameof(BillingClientOptions.RetryDelay), TimeSpan.FromSeconds(2.1) },
        { nameof(BillingClientOptions.RetryDelay), TimeSpan.FromTicks(-1) },
        { nameof(BillingClientOptions.CircuitBreak), TimeSpan.MaxValue },
        { nameof(BillingClientOptions.CircuitBreak), TimeSpan.Zero },
    };

    [Theory]
    [MemberData(nameof(TimesOutOfRange))]
    public void A_time_out_of_range_is_named(string setting, TimeSpan value)
    {
        var options = With("http://localhost:5000");
        typeof(BillingClientOptions).GetProperty(setting)!.SetValue(options, value);
        Assert.StartsWith(
            $"Billing:Client:{setting} (", Assert.Single(options.ValidationErrors()), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("abc\n")]
    [InlineData("Bearer abc")]
    [InlineData("\u00e9")]
    [InlineData("")]
    public void A_token_that_cannot_be_sent_is_named(string token)
    {
        var options = With("http://localhost:5000");
        options.Token = token;
        Assert.StartsWith(
            "Billing:Client:Token must have only", Assert.Single(options.ValidationErrors()), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(100_001)]
    public void A_window_out_of_range_is_named(int window)
    {
        var options = With("http://localhost:5000");
        options.StreamWindow = window;
        Assert.StartsWith(
            "Billing:Client:StreamWindow", Assert.Single(options.ValidationErrors()), StringComparison.Ordinal);
    }

    [Fact]
    public void A_client_is_not_created_from_invalid_options()
    {
        var none = Assert.Throws<ArgumentException>(
            () => new BillingClient(new BillingClientOptions(), TimeProvider.System));
        Assert.Contains("Billing:Client:Proxies is empty", none.Message, StringComparison.Ordinal);
        var bad = Assert.Throws<ArgumentException>(() => new BillingClient(With("nowhere"), TimeProvider.System));
        Assert.Contains("'nowhere'", bad.Message, StringComparison.Ordinal);
    }

    private static BillingClientOptions With(params string[] addresses)
    {
        var options = new BillingClientOptions();
        Array.ForEach(addresses, options.Proxies.Add);
        return options;
    }
}
