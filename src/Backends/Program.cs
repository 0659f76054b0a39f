using Billing.Backends;
using Billing.Backends.Direct;
using Billing.Backends.Hosting;
using Billing.Hosting;
using Billing.Hosting.Telemetry;
using Billing.Messaging;
using Billing.Messaging.Kafka;

return await Service.RunAsync(() =>
{
    var builder = Service.CreateBuilder(args);
    var isDirect = TransportSetting.Read(builder.Configuration) == TransportKind.Direct;
    builder.Services.AddBackendCore(builder.Configuration);
    if (isDirect)
    {
        builder.AddDirectBackend();
    }
    else
    {
        builder.Services.AddKafkaCore(builder.Configuration);
        builder.Services.AddKafkaBackend(
            builder.Configuration.GetSection(BackendOptions.Section).Get<BackendOptions>() ?? new BackendOptions());
    }
    builder.AddTelemetry("billing-backend");
    var app = builder.Build();
    app.MapTelemetry();
    if (isDirect)
    {
        app.MapDirectBackend();
    }
    app.Services.GetRequiredService<Readiness>().Map(app);
    return app;
});
