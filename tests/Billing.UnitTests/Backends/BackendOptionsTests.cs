using Billing.Backends;
using Billing.Backends.Hosting;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace Billing.UnitTests.Backends;

public sealed class BackendOptionsTests
{
    [Theory]
    [InlineData("USD", "0")]
    [InlineData("EUR", "10000.50")]
    [InlineData("KWD", "1.234")]
    [InlineData("JPY", "1000000000000000")]
    public void An_opening_limit_is_an_amount_of_its_currency(string currency, string limit) =>
        Assert.Equal(limit, Read(currency, limit).OpeningLimits[currency]);

    [Theory]
    [InlineData("usd", "1", "is not for a currency of ISO 4217 that is in use, such as USD.")]
    [InlineData("XXX", "1", "is not for a currency of ISO 4217 that is in use, such as USD.")]
    [InlineData("USD", "", "must be a number between 0 and 1000000000000000; it is ''.")]
    [InlineData("USD", "ten", "must be a number between 0 and 1000000000000000; it is 'ten'.")]
    [InlineData("USD", "1,000", "must be a number between 0 and 1000000000000000; it is '1,000'.")]
    [InlineData("USD", "-0.01", "must be a number between 0 and 1000000000000000; it is '-0.01'.")]
    [InlineData("USD", "1000000000000000.01", "must be a number between 0 and 1000000000000000; it is "
        + "'1000000000000000.01'.")]
    [InlineData("USD", "0.005", "must have at most 2 decimals, as USD has; it is '0.005'.")]
    [InlineData("JPY", "0.5", "must have at most 0 decimals, as JPY has; it is '0.5'.")]
    public void Any_other_is_refused_by_its_name(string currency, string limit, string problem)
    {
        var refused = Assert.Throws<OptionsValidationException>(() => Read(currency, limit));

        Assert.Equal($"Billing:Backend:OpeningLimits:{currency} {problem}", Assert.Single(refused.Failures));
    }

    [Fact]
    public void Without_settings_an_account_may_owe_nothing()
    {
        var opened = new BackendOptions().OpenedAccount();

        Assert.Equal((0, 0), (opened.LimitIn("USD"), opened.Available));
    }

    private static BackendOptions Read(string currency, string limit)
    {
        var settings = new Dictionary<string, string?>
        {
            ["Billing:EventStore:ConnectionString"] = "Host=nowhere",
            ["Billing:Backend:OpeningLimits:" + currency] = limit,
        };
        using var services = new ServiceCollection()
            .AddLogging()
            .AddBackendCore(new ConfigurationBuilder().AddInMemoryCollection(settings).Build())
            .BuildServiceProvider();
        return services.GetRequiredService<IOptions<BackendOptions>>().Value;
    }
}
