using System.Diagnostics.Metrics;
using Billing.Hosting;
using Billing.Proxy.Security.Certificates;

namespace Billing.Proxy.Telemetry;

/// <summary>Reports for how long what the proxy needs for TLS is still valid, so that it is replaced in time, and who
/// is refused for a revoked certificate.</summary>
internal static class CertificateMetrics
{
    private const string File = "billing.tls.file";

    /// <summary>Begins to report.</summary>
    public static void Report(IMeterFactory meters, TlsServer server, ClientCertificates clients, TimeProvider time)
    {
        var meter = meters.Create(CallMetrics.MeterName);
        meter.CreateObservableCounter(
            "billing.tls.revoked", () => clients.Revoked, "{connection}",
            "Connections that were refused, or ended, because their client certificate is revoked.");
        meter.CreateObservableGauge(
            "billing.tls.validity", () => Observe(server, clients, time.WallClock().GetUtcNow()), "s",
            "For how long the certificate, or the list of revoked client certificates that is due first, "
                + "is still valid; below zero since when it is not.");
    }

    private static IEnumerable<Measurement<double>> Observe(
        TlsServer server, ClientCertificates clients, DateTimeOffset now)
    {
        yield return Left(server.ValidUntil, "certificate");
        if (clients.ListsValidUntil is { } listed)
        {
            yield return Left(listed, "revocation_list");
        }

        Measurement<double> Left(DateTimeOffset until, string file) =>
            new((until - now).TotalSeconds, new KeyValuePair<string, object?>(File, file));
    }
}
