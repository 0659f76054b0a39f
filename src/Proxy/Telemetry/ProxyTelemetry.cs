using Billing.Messaging.Telemetry;
using Billing.Proxy.Security;

namespace Billing.Proxy.Telemetry;

/// <summary>How a proxy is watched.</summary>
public static class ProxyTelemetry
{
    /// <summary>Adds what measures calls, and exports what is measured.</summary>
    /// <param name="builder">The proxy's builder.</param>
    /// <param name="serviceName">What the process is called.</param>
    public static void AddProxyTelemetry(this WebApplicationBuilder builder, string serviceName = "billing-proxy")
    {
        builder.Services.AddSingleton<CallMetrics>();
        builder.AddTelemetry(serviceName);
    }

    /// <summary>Measures calls from here on, so before whatever may refuse one; and maps <c>/metrics</c>.</summary>
    public static void MapProxyTelemetry(this WebApplication app)
    {
        // Who collects metrics has no token; the admin address is for operators' networks alone.
        app.MapTelemetry()?.AllowAnonymous().ForOperators();
        var metrics = app.Services.GetRequiredService<CallMetrics>();
        app.Use(metrics.InvokeAsync);
    }
}
