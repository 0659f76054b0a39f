using Billing.Hosting;
using Billing.Hosting.Telemetry;

namespace Billing.Backends.Hosting;

/// <summary>The program of a backend, whatever its transport.</summary>
public static class BackendProgram
{
    /// <summary>Runs the program until it is stopped.</summary>
    /// <param name="arguments">The command line: settings.</param>
    /// <param name="addTransport">Registers the transport and the handlers that it delivers commands to.</param>
    /// <param name="mapTransport">Maps the transport's endpoints; null if it has none.</param>
    /// <returns>The process's exit code.</returns>
    public static Task<int> RunAsync(
        string[] arguments, Action<WebApplicationBuilder> addTransport, Action<WebApplication>? mapTransport = null) =>
        Service.RunAsync(
            () =>
            {
                var builder = Service.CreateBuilder(arguments);
                builder.Services.AddBackendCore(builder.Configuration);
                addTransport(builder);
                builder.AddTelemetry("billing-backend");
                return builder;
            },
            app =>
            {
                app.MapTelemetry();
                mapTransport?.Invoke(app);
                app.Services.GetRequiredService<Readiness>().Map(app);
            });
}
