using Billing.Backends.Balances;
using Billing.Backends.Payments;
using Billing.Hosting;
using Billing.Messaging;
using Billing.Messaging.Embedded;
using Microsoft.Extensions.Options;

namespace Billing.Backends.Hosting;

/// <summary>Payment and balance backends in one process, over queues in memory.</summary>
public static class EmbeddedBackends
{
    /// <summary>Adds the backends and the <see cref="EmbeddedTransport"/> that delivers commands to them. The caller has to
    /// start and stop that transport.</summary>
    public static IServiceCollection AddEmbeddedBackends(this IServiceCollection services, IConfiguration configuration)
    {
        services.AddSettings<EmbeddedOptions>(configuration, EmbeddedOptions.Section);
        return services
            .AddHostedService(provider => provider.GetRequiredService<BalanceReadModel>())
            .AddSingleton<PendingReplies>()
            .AddSingleton(provider => new EmbeddedTransport(
                provider.GetRequiredService<PendingReplies>(), publisher => Handlers(provider, publisher),
                provider.GetRequiredService<Supervisor>()))
            .AddSingleton<IReadyPart>(provider => provider.GetRequiredService<EmbeddedTransport>());
    }

    private static EmbeddedHandlers Handlers(IServiceProvider provider, IAnswerPublisher publisher)
    {
        var options = provider.GetRequiredService<IOptions<EmbeddedOptions>>().Value;
        return new EmbeddedHandlers(
            [.. Enumerable.Range(0, options.PaymentBackends).Select(_ => PaymentHandler(provider, publisher))],
            [.. Enumerable.Range(0, options.BalanceBackends).Select(_ => BalanceHandler(provider, publisher))],
            // One view serves all handlers in the process.
            [provider.GetRequiredService<BalanceReadModel>()]);
    }

    private static PaymentProcessor PaymentHandler(IServiceProvider provider, IAnswerPublisher publisher) =>
        ActivatorUtilities.CreateInstance<PaymentProcessor>(
            provider, ActivatorUtilities.CreateInstance<PaymentRecorder>(provider), Replier(provider, publisher));

    private static BalanceProcessor BalanceHandler(IServiceProvider provider, IAnswerPublisher publisher) =>
        ActivatorUtilities.CreateInstance<BalanceProcessor>(provider, Replier(provider, publisher));

    private static Replier Replier(IServiceProvider provider, IAnswerPublisher publisher) =>
        ActivatorUtilities.CreateInstance<Replier>(provider, publisher);
}
