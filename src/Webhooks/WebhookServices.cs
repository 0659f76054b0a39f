using Billing.Hosting;
using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.Events;
using Microsoft.Extensions.Options;

namespace Billing.Webhooks;

/// <summary>Registers the services that send events to receivers.</summary>
internal static class WebhookServices
{
    /// <summary>Adds the settings, the consumer of the events, and the deliveries.</summary>
    public static IServiceCollection AddWebhooks(this IServiceCollection services, IConfiguration configuration)
    {
        services.AddSettings<WebhookOptions>(
            configuration, WebhookOptions.Section, options => options.ValidationErrors());
        services.AddOptions<HostOptions>().Configure<IOptions<WebhookOptions>>(
            (host, webhooks) => host.ShutdownTimeout = webhooks.Value.StopMax);
        services.AddSingleton<IPendingEvents, WebhookStore>();
        services.AddSingleton<Func<ReceiverOptions, IReceiver>>(provider => receiver => new ReceiverClient(
            receiver, provider.GetRequiredService<IOptions<WebhookOptions>>().Value,
            provider.GetRequiredService<TimeProvider>()));
        services.AddSingleton<Deliveries>();
        services.AddSingleton<IReadyPart>(provider => provider.GetRequiredService<Deliveries>());
        services.AddHostedService(provider => provider.GetRequiredService<Deliveries>());
        services.AddSingleton<IEventSink, EventIntake>();
        services.AddSingleton(provider => ActivatorUtilities.CreateInstance<EventConsumer>(provider, Groups.Webhooks));
        services.AddSingleton<IReadyPart>(provider => provider.GetRequiredService<EventConsumer>());
        return services.AddHostedService(provider => provider.GetRequiredService<EventConsumer>());
    }
}
