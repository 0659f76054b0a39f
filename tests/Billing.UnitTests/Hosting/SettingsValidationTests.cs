using System.Reflection;
using Billing.Backends;
using Billing.Client;
using Billing.Hosting;
using Billing.Messaging.Kafka.Clients;
using Billing.Proxy;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace Billing.UnitTests.Hosting;

public sealed class SettingsValidationTests
{
    private static readonly Assembly[] Assemblies =
        [
            typeof(KafkaOptions).Assembly, typeof(ProxyOptions).Assembly,
            typeof(BackendOptions).Assembly, typeof(BillingClientOptions).Assembly,
        ];

    [Fact]
    public void Every_section_of_a_service_is_known() => Assert.Empty(
        from assembly in Assemblies
        from type in assembly.GetTypes()
        from field in type.GetFields(BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Static)
        where field.IsLiteral && field.FieldType == typeof(string)
        let path = (string)field.GetRawConstantValue()!
        where path.StartsWith("Billing:", StringComparison.Ordinal)
        let name = path["Billing:".Length..]
        where name.Length > 0 && name.All(char.IsLetter) && !SettingsValidation.Sections.Contains(name)
        select name);

    [Theory]
    [InlineData("Billing:Kafka:BootstrapServers")]
    [InlineData("billing:kafka:bootstrapservers")]
    [InlineData("Billing:Kafka:Properties:sasl.password")]
    [InlineData("Billing:Backend:Misspelt")]
    public void Settings_of_a_section_and_those_of_other_services_are_valid(string setting) =>
        Assert.Equal("a:1", Kafka((setting, "a:1"), ("Billing:Kafka:BootstrapServers", "a:1")).BootstrapServers);

    [Theory]
    [InlineData("Billing:Kafka:BootstrapServer")]
    [InlineData("Billing:Kafka:Properties.sasl.password")]
    [InlineData("Billing:Kafka:Topics:Payments")]
    public void An_unknown_setting_is_named_with_those_of_its_section(string setting)
    {
        var e = Assert.Throws<OptionsValidationException>(
            () => Kafka((setting, "a:1"), ("Billing:Kafka:BootstrapServers", "a:1")));

        var failure = Assert.Single(e.Failures);
        var key = string.Join(':', setting.Split(':').Take(3));
        Assert.StartsWith(
            key + " is not a setting; Billing:Kafka has BootstrapServers, ", failure, StringComparison.Ordinal);
        Assert.Contains(", Properties.", failure, StringComparison.Ordinal);
    }

    [Fact]
    public void A_value_of_what_has_only_names_is_refused()
    {
        var services = new ServiceCollection();
        services.AddSettings<BackendOptions>(
            new ConfigurationBuilder().AddInMemoryCollection(
                new Dictionary<string, string?> { ["Billing:Backend:OpeningLimits"] = "500" }).Build(),
            BackendOptions.Section);
        using var provider = services.BuildServiceProvider();

        var e = Assert.Throws<OptionsValidationException>(
            () => provider.GetRequiredService<IOptions<BackendOptions>>().Value);

        Assert.Equal(
            "Billing:Backend:OpeningLimits is no setting by itself, but Billing:Backend:OpeningLimits:NAME is; "
                + "it is '500'.", Assert.Single(e.Failures));
    }

    [Fact]
    public void An_unknown_section_is_named_with_the_others()
    {
        var e = Assert.Throws<OptionsValidationException>(() => SettingsValidation.RefuseUnknownSections(
            Configuration(
                ("Billing:Kafak:BootstrapServers", "a:1"),
                ("Billing:Kafka:BootstrapServers", "a:1"), ("Logging:LogLevel:Default", "Debug"))));

        Assert.StartsWith(
            "Billing:Kafak is not a setting; Billing has Admin, ", Assert.Single(e.Failures), StringComparison.Ordinal);
    }

    private static KafkaOptions Kafka(params (string Key, string Value)[] settings)
    {
        var services = new ServiceCollection();
        services.AddSettings<KafkaOptions>(Configuration(settings), KafkaOptions.Section);
        using var provider = services.BuildServiceProvider();
        return provider.GetRequiredService<IOptions<KafkaOptions>>().Value;
    }

    private static IConfiguration Configuration(params (string Key, string Value)[] settings) =>
        new ConfigurationBuilder()
            .AddInMemoryCollection(settings.DistinctBy(s => s.Key, StringComparer.OrdinalIgnoreCase)
                .Select(s => KeyValuePair.Create(s.Key, (string?)s.Value)))
            .Build();
}
