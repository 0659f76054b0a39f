using Billing.Hosting;
using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.Events;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;

namespace Billing.Webhooks;

/// <summary>Registers the services that send events to receivers.</summary>
internal static partial class WebhookServices
{
    // Of the memory, for the events that are being delivered. A turn of the consumer takes as much at most.
    private const int DeliveriesPercent = 30;

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
        services.TryAddSingleton(_ => MemoryBudget.OfProcess());
        services.AddHostedService<MemoryAtStart>();
        services.AddSingleton<Deliveries>();
        services.AddSingleton<IReadyPart>(provider => provider.GetRequiredService<Deliveries>());
        services.AddHostedService(provider => provider.GetRequiredService<Deliveries>());
        services.AddSingleton<IEventSink, EventIntake>();
        services.AddSingleton(provider => ActivatorUtilities.CreateInstance<EventConsumer>(provider, Groups.Webhooks));
        services.AddSingleton<IReadyPart>(provider => provider.GetRequiredService<EventConsumer>());
        return services.AddHostedService(provider => provider.GetRequiredService<EventConsumer>());
    }

    /// <summary>Says at the start what the events that are being delivered may take, and whether there is so much
    /// memory.</summary>
    private sealed partial class MemoryAtStart(
        MemoryBudget budget, IOptions<WebhookOptions> options, ILogger<MemoryAtStart> logger) : IHostedService
    {
        public Task StartAsync(CancellationToken cancellationToken)
        {
            var (receivers, accounts) = (options.Value.Receivers.Count, options.Value.ConcurrencyMax);
            var bytes = (long)receivers * accounts * WebhookStore.AccountBytes;
            Divided(MemoryBudget.Text(budget.Bytes), MemoryBudget.Text(bytes));
            if (bytes > budget.Share(DeliveriesPercent))
            {
                Exceeded(
                    accounts, receivers, MemoryBudget.Text(bytes), MemoryBudget.Text(budget.Bytes),
                    budget.Fitting(DeliveriesPercent, WebhookStore.AccountBytes * receivers, int.MaxValue));
            }
            return Task.CompletedTask;
        }

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        [LoggerMessage(410, LogLevel.Information, "Of {Memory} of memory, events being delivered take {Deliveries}")]
        private partial void Divided(string memory, string deliveries);

        [LoggerMessage(
            411, LogLevel.Warning,
            "Billing:Webhooks:ConcurrencyMax is {Accounts}: the events for {Receivers} receivers may take {Deliveries} "
                + "of {Memory}, and the process may end for want of memory; the memory allows {Allowed}")]
        private partial void Exceeded(int accounts, int receivers, string deliveries, string memory, int allowed);
    }
}
