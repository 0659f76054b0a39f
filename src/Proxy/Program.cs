using Billing.Messaging.Hosting;
using Billing.Messaging.Kafka;
using Billing.Proxy;

return await Service.RunAsync(() =>
{
    var builder = Service.CreateBuilder(args);
    builder.Services.AddKafkaCore(builder.Configuration);
    builder.Services.AddKafkaRequestTransport();
    builder.Services.AddProxy(builder.Configuration);
    var app = builder.Build();
    app.MapProxy();
    return app;
});
