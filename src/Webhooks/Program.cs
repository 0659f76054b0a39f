using Billing.Hosting;
using Billing.Hosting.Telemetry;
using Billing.Messaging.Kafka;
using Billing.Webhooks;

return await Service.RunAsync(
    () =>
    {
        var builder = Service.CreateBuilder(args);
        builder.Services.AddKafkaCore(builder.Configuration);
        builder.Services.AddWebhooks(builder.Configuration);
        builder.AddTelemetry("billing-webhooks");
        return builder;
    },
    app =>
    {
        app.MapTelemetry();
        app.Services.GetRequiredService<Readiness>().Map(app);
    });
