using Billing.Backends;
using Billing.Backends.Direct;
using Billing.Messaging;
using Billing.Messaging.Hosting;
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
    var app = builder.Build();
    var isReady = isDirect ? DirectReadiness(app) : KafkaReadiness(app);
    var supervisor = app.Services.GetRequiredService<Supervisor>();
    app.MapGet("/health/live", () => "live");
    app.MapGet("/health/ready", () => supervisor.IsHealthy && isReady() ? Results.Ok("ready") : Results.StatusCode(503));
    return app;
});

static Func<bool> KafkaReadiness(WebApplication app)
{
    var consumer = app.Services.GetRequiredService<CommandConsumer>();
    return () => consumer.HasJoined;
}

static Func<bool> DirectReadiness(WebApplication app)
{
    var executor = app.MapDirectBackend();
    return () => executor.IsReady;
}
