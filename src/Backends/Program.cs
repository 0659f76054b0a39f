using Billing.Backends;
using Billing.Messaging.Hosting;
using Billing.Messaging.Kafka;

return await Service.RunAsync(() =>
{
    var builder = Service.CreateBuilder(args);
    var backend = builder.Configuration.GetSection(BackendOptions.Section).Get<BackendOptions>() ?? new BackendOptions();
    builder.Services.AddKafkaCore(builder.Configuration);
    builder.Services.AddBackendCore(builder.Configuration);
    builder.Services.AddKafkaBackend(backend);
    var app = builder.Build();
    var consumer = app.Services.GetRequiredService<CommandConsumer>();
    app.MapGet("/health/live", () => "live");
    app.MapGet("/health/ready", () => consumer.HasJoined ? Results.Ok("ready") : Results.StatusCode(503));
    return app;
});
