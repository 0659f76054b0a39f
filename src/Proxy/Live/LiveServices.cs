using Billing.Hosting;
using Billing.Messaging;
using Billing.Messaging.Kafka;
using Billing.Messaging.Requests;
using Billing.Proxy.Rest;
using Billing.Proxy.Security;
using Microsoft.Extensions.DependencyInjection.Extensions;

namespace Billing.Proxy.Live;

/// <summary>Registers the services of the live page, which is part of the REST front.</summary>
internal static class LiveServices
{
    private const string Page = "index.html";

    /// <summary>Adds the live page, if there is a REST front and <see cref="LiveOptions.Enabled"/> is set.
    /// Has to come after the transport, which it wraps.</summary>
    public static void AddLive(this WebApplicationBuilder builder)
    {
        var services = builder.Services;
        services.AddSettings<LiveOptions>(builder.Configuration, LiveOptions.Section);
        if (!IsOn(builder.Configuration))
        {
            return;
        }
        if (services.Any(service => service.ServiceType == typeof(KafkaRequestTransport)))
        {
            services.AddSingleton<KafkaWatch>();
        }
        var transport = services.Last(service => service.ServiceType == typeof(IRequestTransport));
        services.Replace(ServiceDescriptor.Singleton<IRequestTransport>(provider => new LiveTransport(
            (IRequestTransport)(transport.ImplementationInstance ?? transport.ImplementationFactory!(provider)),
            provider.GetRequiredService<LiveWatch>())));
        services.AddSingleton<LiveWatch>().AddSingleton<Watchers>().AddSingleton<LiveView>().AddSingleton<LiveFront>()
            .AddHostedService<LiveFeed>();
    }

    /// <summary>Maps the live page, its files, its events and its payments, and watches the calls.
    /// Has to come before any middleware that answers a call.</summary>
    public static void MapLive(this WebApplication app)
    {
        if (!IsOn(app.Configuration))
        {
            return;
        }
        var watch = app.Services.GetRequiredService<LiveWatch>();
        app.Use((http, next) => CallWatch.InvokeAsync(watch, http, next));
        foreach (var asset in LiveAssets.All)
        {
            // Anonymous: the files hold no data, and the page asks for the token that the events may require.
            app.MapGet(asset.Name == Page ? "/" : "/live/" + asset.Name, asset.Answer)
                .AllowAnonymous().ForOperators().ExcludeFromDescription();
        }
        var front = app.Services.GetRequiredService<LiveFront>();
        app.MapGet("/live/events", front.WatchAsync).RequireAuthorization(Scopes.OperationsRead).ForOperators()
            .ExcludeFromDescription();
        app.MapPut("/live/payments/{transactionId}", front.PayAsync).RequireAuthorization(Scopes.PaymentsWrite)
            .ForOperators().ExcludeFromDescription();
    }

    private static bool IsOn(IConfiguration configuration) =>
        RestOptions.IsOn(configuration) && configuration.GetValue(LiveOptions.Section + ":Enabled", true);
}
