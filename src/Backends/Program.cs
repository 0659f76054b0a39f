using Billing.Backends;
using Billing.Backends.Hosting;
using Billing.Messaging.Kafka;

return await BackendProgram.RunAsync(args, builder =>
{
    builder.Services.AddKafkaCore(builder.Configuration);
    builder.Services.AddKafkaBackend(
        builder.Configuration.GetSection(BackendOptions.Section).Get<BackendOptions>() ?? new BackendOptions());
});
