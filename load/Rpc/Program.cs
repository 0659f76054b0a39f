using Billing.Backends.Hosting;
using Billing.Hosting;
using Billing.Proxy.Hosting;
using Billing.Rpc.Backends;
using Billing.Rpc.Proxies;

switch (args)
{
    case ["proxy", .. var settings]:
        return await ProxyProgram.RunAsync(
            settings, "billing-proxy", builder => builder.Services.AddDirectRequestTransport(builder.Configuration));
    case ["backend", .. var settings]:
        return await BackendProgram.RunAsync(
            settings, builder => builder.AddDirectBackend(), app => app.MapDirectBackend());
    default:
        await Console.Error.WriteLineAsync("Billing.Rpc needs a first argument: proxy or backend; settings follow it.");
        return Service.BadSettings;
}
