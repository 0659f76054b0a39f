using System.ComponentModel.DataAnnotations;
using Billing.Backends.Balances;
using Billing.Hosting;
using Billing.Messaging;
using Billing.Messaging.Embedded;
using Microsoft.Extensions.Options;

namespace Billing.Backends.Hosting;

/// <summary>Payment and balance backends in one process, over queues in memory.</summary>
public static class EmbeddedBackends
{
    /// <summary>Adds the backends and the <see cref="EmbeddedTransport"/> that delivers commands to them.
    /// The caller has to start and stop that transport.</summary>
    /// <param name="services">The services to add to.</param>
    /// <param name="configuration">The settings.</param>
    /// <param name="owner">The name by which the event store knows the process as the owner of its accounts.</param>
    public static IServiceCollection AddEmbeddedBackends(
        this IServiceCollection services, IConfiguration configuration, string owner = "embedded")
    {
        services.AddSettings<EmbeddedOptions>(configuration, EmbeddedOptions.Section);
        return services
            .AddHostedService(provider => provider.GetRequiredService<BalanceReadModel>())
            .AddSingleton<PendingReplies>()
            .AddSingleton(provider => new EmbeddedTransport(
                provider.GetRequiredService<PendingReplies>(), publisher => Handlers(provider, publisher), owner,
                provider.GetRequiredService<Supervisor>()))
            .AddHostedService(provider => provider.NewExpiredHolds(provider.GetRequiredService<EmbeddedTransport>()))
            .AddSingleton<IReadyPart>(provider => provider.GetRequiredService<EmbeddedTransport>());
    }

    private static EmbeddedHandlers Handlers(IServiceProvider provider, IAnswerPublisher publisher)
    {
        var options = provider.GetRequiredService<IOptions<EmbeddedOptions>>().Value;
        return new EmbeddedHandlers(
            [.. Enumerable.Range(0, options.PaymentBackends).Select(_ => provider.NewPaymentProcessor(publisher))],
            [.. Enumerable.Range(0, options.BalanceBackends).Select(_ => provider.NewReadProcessor(publisher))],
            // One view serves all handlers in the process.
            [provider.GetRequiredService<BalanceReadModel>()]);
    }
}

/// <summary>The number of handlers in a process without Kafka; section <c>Billing:Embedded</c>.</summary>
internal sealed class EmbeddedOptions
{
    public const string Section = "Billing:Embedded";

    [Range(1, 1000)]
    public int PaymentBackends { get; set; } = 1;

    [Range(1, 1000)]
    public int BalanceBackends { get; set; } = 1;
}
