using Billing.Hosting;
using Billing.Messaging.Kafka.Clients;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace Billing.Messaging.Kafka;

/// <summary>Registers the services of the Kafka transport.</summary>
public static class KafkaServices
{
    /// <summary>Adds the settings, the clock, which hears of the brokers' clocks, and the topics, which both sides of
    /// the transport need.</summary>
    public static IServiceCollection AddKafkaCore(this IServiceCollection services, IConfiguration configuration)
    {
        services.AddSettings<KafkaOptions>(configuration, KafkaOptions.Section, options => options.ValidationErrors());
        services.AddServiceTime();
        return services.AddSingleton<KafkaTopics>().AddHostedService<BrokerClocks>();
    }

    /// <summary>Adds the proxy's side of the transport.</summary>
    public static IServiceCollection AddKafkaRequestTransport(this IServiceCollection services) => services
        .AddSingleton<PendingReplies>()
        .AddSingleton<KafkaRequestTransport>()
        .AddSingleton<IRequestTransport>(provider => provider.GetRequiredService<KafkaRequestTransport>())
        .AddHostedService(provider => provider.GetRequiredService<KafkaRequestTransport>());
}
