using Billing.Messaging.Hosting;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace Billing.Messaging.Kafka;

/// <summary>Registers the services of the Kafka transport.</summary>
public static class KafkaServices
{
    /// <summary>Adds the settings, the clock and the topics, which both sides of the transport need.</summary>
    public static IServiceCollection AddKafkaCore(this IServiceCollection services, IConfiguration configuration)
    {
        services.AddOptions<KafkaOptions>().Bind(configuration.GetSection(KafkaOptions.Section))
            .ValidateDataAnnotations().ValidateOnStart();
        services.AddSingleton<IValidateOptions<KafkaOptions>>(
            new ProblemValidation<KafkaOptions>(options => options.ValidationErrors()));
        services.AddServiceTime();
        return services.AddSingleton<KafkaTopics>();
    }

    /// <summary>Adds the proxy's side of the transport.</summary>
    public static IServiceCollection AddKafkaRequestTransport(this IServiceCollection services) => services
        .AddSingleton<PendingReplies>()
        .AddSingleton<KafkaRequestTransport>()
        .AddSingleton<IRequestTransport>(provider => provider.GetRequiredService<KafkaRequestTransport>())
        .AddHostedService(provider => provider.GetRequiredService<KafkaRequestTransport>());
}
