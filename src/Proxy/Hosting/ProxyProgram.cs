using Billing.Hosting;

namespace Billing.Proxy.Hosting;

/// <summary>The program of a proxy, whatever its transport.</summary>
public static class ProxyProgram
{
    /// <summary>Runs the program until it is stopped.</summary>
    /// <param name="arguments">The command line: settings.</param>
    /// <param name="name">The name under which it exports telemetry, e.g. <c>billing-proxy</c>.</param>
    /// <param name="addTransport">Registers the transport.</param>
    /// <returns>The process's exit code.</returns>
    public static Task<int> RunAsync(string[] arguments, string name, Action<WebApplicationBuilder> addTransport) =>
        Service.RunAsync(
            () =>
            {
                var builder = Service.CreateBuilder(arguments);
                addTransport(builder);
                builder.AddProxy(name);
                return builder;
            },
            app => app.MapProxy());
}
