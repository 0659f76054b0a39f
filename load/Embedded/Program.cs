using Billing.Backends.Hosting;
using Billing.Hosting;
using Billing.Messaging;
using Billing.Messaging.Embedded;
using Billing.Proxy.Hosting;
using Billing.Proxy.Live.Front;
using Billing.Proxy.Rest;
using Billing.Proxy.Telemetry;

return await Service.RunAsync(() =>
{
    var builder = Service.CreateBuilder(args);
    builder.Services.AddBackendCore(builder.Configuration);
    builder.Services.AddEmbeddedBackends(builder.Configuration);
    builder.Services.AddSingleton<IRequestTransport>(provider => provider.GetRequiredService<EmbeddedTransport>());
    builder.Services.AddHostedService(provider => provider.GetRequiredService<EmbeddedTransport>());
    builder.Services.AddProxy(builder.Configuration);
    builder.AddRest();
    builder.AddLive();
    builder.AddSecurity();
    builder.AddProxyTelemetry("billing-embedded");
    var app = builder.Build();
    app.MapProxyTelemetry();
    app.MapProxy();
    app.MapRest();
    app.MapLive();
    app.UseSecurity();
    return app;
});
