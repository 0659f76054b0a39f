using System.Diagnostics.Metrics;
using Billing.Proxy.Security.Tokens;

namespace Billing.Proxy.Telemetry;

/// <summary>Reports the keys that verify tokens. While they cannot be read, those that are known stay trusted, also
/// those that the issuer has removed, which somebody has to know.</summary>
internal static class KeyMetrics
{
    /// <summary>Begins to report.</summary>
    public static void Report(IMeterFactory meters, SigningKeys keys)
    {
        var meter = meters.Create(CallMetrics.MeterName);
        meter.CreateObservableGauge(
            "billing.auth.keys", () => keys.Count, "{key}", "Keys whose tokens are accepted.");
        meter.CreateObservableGauge(
            "billing.auth.keys.age",
            () => keys.Age is { } age ? [new(age.TotalSeconds)] : Array.Empty<Measurement<double>>(), "s",
            "Time since they were last read from their file or their issuer.");
    }
}
