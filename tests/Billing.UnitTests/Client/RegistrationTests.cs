using Billing.Client;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Testing;
using Microsoft.Extensions.Options;

namespace Billing.UnitTests.Client;

/// <summary>Clients in a container: one or several, with options from code or from configuration.</summary>
public sealed class RegistrationTests
{
    private static readonly Payment Five = new(new CardAccount(CardNetwork.Visa, "a"), new Amount(5, "USD"));

    [Fact]
    public void Options_are_read_from_a_section()
    {
        var configuration = Configuration(
            ("Billing:Client:Proxies:0", "https://a.example"), ("Billing:Client:Proxies:1", "dns:///b.example:5000"),
            ("Billing:Client:Deadline", "00:00:07"), ("Billing:Client:RetryShare", "0.5"),
            ("Billing:Client:RetriesMax", "3"), ("Billing:Client:Token", "abc"), ("Billing:Client:StreamWindow", "9"),
            ("Billing:AdminClient:Proxies:0", "https://admin.example"),
            ("Billing:AdminClient:Tls:CaFile", typeof(RegistrationTests).Assembly.Location));
        using var provider = new ServiceCollection()
            .AddBillingClient(configuration.GetSection(BillingClientOptions.Section))
            .AddBillingAdminClient(configuration.GetSection(BillingAdminClient.Section))
            .BuildServiceProvider();

        var options = provider.GetRequiredService<IOptions<BillingClientOptions>>().Value;
        var operators = provider.GetRequiredService<IOptionsMonitor<BillingClientOptions>>()
            .Get(BillingAdminClient.Section);

        Assert.Equal(["https://a.example", "dns:///b.example:5000"], options.Proxies);
        Assert.Equal(
            (TimeSpan.FromSeconds(7), 0.5, 3, "abc", 9),
            (options.Deadline, options.RetryShare, options.RetriesMax, options.Token, options.StreamWindow));
        Assert.Equal(["https://admin.example"], operators.Proxies);
        Assert.Equal(typeof(RegistrationTests).Assembly.Location, operators.Tls.CaFile);
        Assert.NotNull(provider.GetRequiredService<BillingClient>());
    }

    [Fact]
    public async Task Clients_with_keys_have_options_of_their_own()
    {
        await using var europe = await ScriptedProxy.StartAsync();
        await using var america = await ScriptedProxy.StartAsync();
        var configuration = Configuration(("Platforms:America:Proxies:0", america.Address));
        await using var provider = new ServiceCollection()
            .AddKeyedBillingClient("europe", options => options.Proxies.Add(europe.Address))
            .AddKeyedBillingClient("america", configuration.GetSection("Platforms:America"))
            .AddKeyedBillingAdminClient("europe", options => options.Proxies.Add(europe.Address))
            .AddKeyedBillingAdminClient("america", configuration.GetSection("Platforms:America"))
            .BuildServiceProvider();

        Expect.Accepted(await provider.GetRequiredKeyedService<BillingClient>("america").PayAsync(Five));

        Assert.Equal((0, 1), (europe.Requests.Count, america.Requests.Count));
        Assert.Same(
            provider.GetRequiredKeyedService<BillingClient>("europe"),
            provider.GetRequiredKeyedService<BillingClient>("europe"));
        Assert.NotSame(
            provider.GetRequiredKeyedService<BillingAdminClient>("europe"),
            provider.GetRequiredKeyedService<BillingAdminClient>("america"));
        Assert.Null(provider.GetService<BillingClient>());
        Assert.Null(provider.GetKeyedService<BillingClient>("asia"));
    }

    [Fact]
    public async Task What_a_section_cannot_say_is_added_by_code()
    {
        await using var proxy = await ScriptedProxy.StartAsync();
        var section = Configuration(("Proxies:Proxies:0", proxy.Address)).GetSection("Proxies");
        var asked = 0;
        await using var provider = new ServiceCollection()
            .AddBillingClient(section, WithToken)
            .AddKeyedBillingClient("europe", section, WithToken)
            .AddBillingAdminClient(section, WithToken)
            .AddKeyedBillingAdminClient("europe", section, WithToken)
            .BuildServiceProvider();

        await provider.GetRequiredService<BillingClient>().PayAsync(Five);
        await provider.GetRequiredKeyedService<BillingClient>("europe").PayAsync(Five);
        await provider.GetRequiredService<BillingAdminClient>()
            .SetCreditLimitAsync(new CreditLimitChange(Five.Account, Five.Amount));
        await provider.GetRequiredKeyedService<BillingAdminClient>("europe")
            .SetCreditLimitAsync(new CreditLimitChange(Five.Account, Five.Amount));

        Assert.Equal(4, asked);
        Assert.Equal(["Bearer abc", "Bearer abc"], proxy.HeadersOf("authorization"));

        void WithToken(BillingClientOptions options) => options.TokenProvider = _ =>
        {
            asked++;
            return ValueTask.FromResult("abc");
        };
    }

    [Fact]
    public void Invalid_options_are_named_by_their_section_or_their_key()
    {
        var configuration = Configuration(("Platforms:America:RetriesMax", "101"));
        using var provider = new ServiceCollection()
            .AddKeyedBillingClient("europe", options => options.Deadline = TimeSpan.Zero)
            .AddKeyedBillingAdminClient("america", configuration.GetSection("Platforms:America"))
            .BuildServiceProvider();

        Assert.Equal(
            [
                "Billing:Client(europe):Proxies is empty; give at least one address, e.g. http://localhost:5000.",
                "Billing:Client(europe):Deadline (00:00:00) must be more than zero and at most a day.",
            ],
            Failures(() => provider.GetRequiredKeyedService<BillingClient>("europe")));
        Assert.Equal(
            [
                "Platforms:America:Proxies is empty; give at least one address, e.g. http://localhost:5000.",
                "Platforms:America:RetriesMax (101) must be between 0 and 100.",
            ],
            Failures(() => provider.GetRequiredKeyedService<BillingAdminClient>("america")));
    }

    [Fact]
    public void A_setting_that_does_not_exist_is_named()
    {
        var configuration = Configuration(
            ("Billing:Client:Proxies:0", "http://localhost:5000"), ("Billing:Client:Deadlin", "00:00:07"));
        using var provider = new ServiceCollection()
            .AddBillingClient(configuration.GetSection(BillingClientOptions.Section)).BuildServiceProvider();

        var refused = Assert.Throws<InvalidOperationException>(provider.GetRequiredService<BillingClient>);

        Assert.Contains("'Deadlin'", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_log_is_that_of_the_container()
    {
        var log = new FakeLogCollector();
        await using var provider = new ServiceCollection()
            .AddLogging(logging => logging.AddProvider(new FakeLoggerProvider(log)))
            .AddBillingClient(options =>
            {
                options.Proxies.Add("http://127.0.0.1:1");
                options.RetriesMax = 0;
            })
            .BuildServiceProvider();

        Expect.Unknown(await provider.GetRequiredService<BillingClient>().PayAsync(Five));

        Assert.All(log.GetSnapshot(), line => Assert.Equal("Billing.Client", line.Category));
        Assert.Equal([LogLevel.Information, LogLevel.Warning], log.GetSnapshot().Select(line => line.Level));
    }

    private static IEnumerable<string> Failures(Func<object> create) =>
        Assert.Throws<OptionsValidationException>(create).Failures;

    private static IConfiguration Configuration(params (string Key, string Value)[] settings) =>
        new ConfigurationBuilder().AddInMemoryCollection(settings.ToDictionary(
            s => s.Key, s => (string?)s.Value)).Build();
}
