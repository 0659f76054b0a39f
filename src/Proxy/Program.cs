using Billing.Messaging.Kafka;
using Billing.Proxy.Hosting;

return await ProxyProgram.RunAsync(args, "billing-proxy", builder =>
{
    builder.Services.AddKafkaCore(builder.Configuration);
    builder.Services.AddKafkaRequestTransport();
});
