using Billing.Backends.Hosting;
using Billing.Messaging;
using Billing.Messaging.Embedded;
using Billing.Proxy.Hosting;

return await ProxyProgram.RunAsync(args, "billing-embedded", builder =>
{
    builder.Services.AddBackendCore(builder.Configuration);
    builder.Services.AddEmbeddedBackends(builder.Configuration);
    builder.Services.AddSingleton<IRequestTransport>(provider => provider.GetRequiredService<EmbeddedTransport>());
    builder.Services.AddHostedService(provider => provider.GetRequiredService<EmbeddedTransport>());
});
