using Billing.Hosting;
using Billing.Messaging;
using Billing.Messaging.Direct;
using Billing.Messaging.Kafka;
using Billing.Proxy.Hosting;
using Billing.Proxy.Live.Front;
using Billing.Proxy.Rest;
using Billing.Proxy.Telemetry;

return await Service.RunAsync(() =>
{
    var builder = Service.CreateBuilder(args);
    if (TransportSetting.Read(builder.Configuration) == TransportKind.Direct)
    {
        builder.Services.AddDirectRequestTransport(builder.Configuration);
    }
    else
    {
        builder.Services.AddKafkaCore(builder.Configuration);
        builder.Services.AddKafkaRequestTransport();
    }
    builder.Services.AddProxy(builder.Configuration);
    builder.AddRest();
    builder.AddLive();
    builder.AddSecurity();
    builder.AddProxyTelemetry();
    var app = builder.Build();
    app.MapProxyTelemetry();
    app.MapProxy();
    app.MapRest();
    app.MapLive();
    app.UseSecurity();
    return app;
});
