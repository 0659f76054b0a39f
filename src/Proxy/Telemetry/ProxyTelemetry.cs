using Billing.Hosting.Telemetry;
using Billing.Proxy.Security;

namespace Billing.Proxy.Telemetry;

/// <summary>Registers the metrics and traces of a proxy.</summary>
public static class ProxyTelemetry
{
    /// <summary>Adds the measurement of calls, and the export of telemetry.</summary>
    /// <param name="builder">The proxy's builder.</param>
    /// <param name="serviceName">The service name in the telemetry.</param>
    public static void AddProxyTelemetry(this WebApplicationBuilder builder, string serviceName = "billing-proxy")
    {
        builder.Services.AddSingleton<CallMetrics>();
        builder.AddTelemetry(serviceName);
    }

    /// <summary>Adds the middleware that measures calls, and maps <c>/metrics</c>. Has to come before any middleware that may
    /// refuse a call.</summary>
    public static void MapProxyTelemetry(this WebApplication app)
    {
        // Anonymous, since metrics collectors have no token: the admin address is for the operators' network only.
        app.MapTelemetry()?.AllowAnonymous().ForOperators();
        var metrics = app.Services.GetRequiredService<CallMetrics>();
        app.Use(metrics.InvokeAsync);
    }
}
