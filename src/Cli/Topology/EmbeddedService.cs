using System.ComponentModel.DataAnnotations;
using Billing.Backends;
using Billing.Backends.Balances;
using Billing.Backends.Payments;
using Billing.Messaging;
using Billing.Messaging.Embedded;
using Billing.Messaging.Hosting;
using Billing.Proxy;
using Microsoft.Extensions.Options;

namespace Billing.Cli.Topology;

/// <summary>How many backends an embedded system has; section <c>Billing:Embedded</c>.</summary>
public sealed class EmbeddedOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Embedded";

    /// <summary>Payment backends.</summary>
    [Range(1, 1000, ErrorMessage = "Billing:Embedded:PaymentBackends must be within 1 and 1000.")]
    public int PaymentBackends { get; set; } = 1;

    /// <summary>Balance backends.</summary>
    [Range(1, 1000, ErrorMessage = "Billing:Embedded:BalanceBackends must be within 1 and 1000.")]
    public int BalanceBackends { get; set; } = 1;
}

/// <summary>Proxy and backends in one process, for where no Kafka can be had.</summary>
public static class EmbeddedService
{
    /// <summary>Runs the service until it is told to stop.</summary>
    /// <returns>The process's exit code.</returns>
    public static Task<int> RunAsync(string[] arguments) => Service.RunAsync(() =>
    {
        var builder = Service.CreateBuilder(arguments);
        builder.Services.AddBackendCore(builder.Configuration);
        builder.Services.AddOptions<EmbeddedOptions>().Bind(builder.Configuration.GetSection(EmbeddedOptions.Section))
            .ValidateDataAnnotations().ValidateOnStart();
        builder.Services.AddHostedService(provider => provider.GetRequiredService<BalanceReadModel>());
        builder.Services.AddSingleton<PendingReplies>();
        builder.Services.AddSingleton(provider => new EmbeddedTransport(
            provider.GetRequiredService<PendingReplies>(), publisher => Handlers(provider, publisher)));
        builder.Services.AddSingleton<IRequestTransport>(provider => provider.GetRequiredService<EmbeddedTransport>());
        builder.Services.AddHostedService(provider => provider.GetRequiredService<EmbeddedTransport>());
        builder.Services.AddProxy(builder.Configuration);
        var app = builder.Build();
        app.MapProxy();
        return app;
    });

    private static EmbeddedHandlers Handlers(IServiceProvider provider, IAnswerPublisher publisher)
    {
        var options = provider.GetRequiredService<IOptions<EmbeddedOptions>>().Value;
        return new EmbeddedHandlers(
            [.. Enumerable.Range(0, options.PaymentBackends).Select(_ => PaymentHandler(provider, publisher))],
            [.. Enumerable.Range(0, options.BalanceBackends).Select(_ => BalanceHandler(provider, publisher))],
            // In one process one view serves them all.
            [provider.GetRequiredService<BalanceReadModel>()]);
    }

    private static PaymentProcessor PaymentHandler(IServiceProvider provider, IAnswerPublisher publisher) =>
        ActivatorUtilities.CreateInstance<PaymentProcessor>(
            provider, ActivatorUtilities.CreateInstance<PaymentRecorder>(provider), Settler(provider, publisher));

    private static BalanceProcessor BalanceHandler(IServiceProvider provider, IAnswerPublisher publisher) =>
        ActivatorUtilities.CreateInstance<BalanceProcessor>(provider, Settler(provider, publisher));

    private static AnswerSettler Settler(IServiceProvider provider, IAnswerPublisher publisher) =>
        ActivatorUtilities.CreateInstance<AnswerSettler>(provider, publisher);
}
