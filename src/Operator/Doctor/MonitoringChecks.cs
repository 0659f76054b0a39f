using System.Text.Json;

namespace Billing.Operator.Doctor;

/// <summary>Asks Prometheus whether it watches the platform, and which alerts fire.</summary>
internal static class MonitoringChecks
{
    /// <param name="address">Prometheus' address; null if there is none.</param>
    /// <param name="cancellationToken">Cancels it.</param>
    public static async Task<IReadOnlyList<Finding>> OfAsync(string? address, CancellationToken cancellationToken)
    {
        if (address is null)
        {
            return
            [
                new Finding(
                    false, "nobody is told when something fails: there is no Prometheus",
                    "./billing up --monitoring; --prometheus"),
            ];
        }
        using var http = new HttpClient { BaseAddress = new Uri(address), Timeout = ProxyChecks.Patience };
        try
        {
            var rules = await http.GetFromJsonAsync<JsonElement>(
                new Uri("/api/v1/rules?type=alert", UriKind.Relative), cancellationToken);
            var alerts = await http.GetFromJsonAsync<JsonElement>(
                new Uri("/api/v1/alerts", UriKind.Relative), cancellationToken);
            return rules.GetProperty("data").GetProperty("groups").GetArrayLength() == 0
                ? [new Finding(false, $"{address} has no alerts", "deploy/monitoring/prometheus/rules")]
                : [.. alerts.GetProperty("data").GetProperty("alerts").EnumerateArray()
                    .Where(alert => alert.GetProperty("state").GetString() == "firing").Select(Firing)];
        }
        catch (Exception e)
            when (e is HttpRequestException or TaskCanceledException or JsonException or KeyNotFoundException)
        {
            return [new Finding(true, $"{address} does not answer as Prometheus does: {e.Message}", "--prometheus")];
        }
    }

    private static Finding Firing(JsonElement alert)
    {
        var says = alert.GetProperty("annotations");
        return new Finding(
            true, $"{alert.GetProperty("labels").GetProperty("alertname")}: {says.GetProperty("summary")}",
            says.GetProperty("action").ToString());
    }
}
