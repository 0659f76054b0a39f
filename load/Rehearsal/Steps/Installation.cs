using System.Text.Json;
using Billing.LocalStack.Processes;
using Billing.Rehearsal.Network;

namespace Billing.Rehearsal.Steps;

/// <summary>The checks after the first start of all machines.</summary>
internal static class Installation
{
    // The ports of the tiers' services after the installation. Brokers have separate ports for each other.
    private static readonly (string Tier, int Port)[] Listening =
    [
        ("kafka", 9092), ("kafka", 9093), ("kafka", 9094), ("kafka", 2379), ("kafka", 2380), ("postgres", 5432),
        ("postgres", 8008), ("proxy", 5000), ("proxy", 5080), ("proxy", 5090),
        ("payment-backend", 5001), ("balance-backend", 5001),
        .. from tier in (string[])["kafka", "postgres", "proxy", "payment-backend", "balance-backend", "client"]
           select (tier, 9100),
    ];

    public static Task<AccessFindings> TryAccessAsync(Platform platform, CancellationToken cancellationToken) =>
        AccessProbe.RunAsync(platform.Topology, Listening, cancellationToken);

    /// <summary>Polls the monitoring host's Prometheus until it scrapes all machines and services,
    /// for at most a minute.</summary>
    /// <returns>The numbers of those that it can and cannot scrape.</returns>
    public static async Task<(int Up, int Down)> TargetsAsync(Platform platform, CancellationToken cancellationToken)
    {
        var health = await Poll.LastAsync(
            async () =>
                (await AskAsync(platform, "targets", cancellationToken))?.GetProperty("activeTargets").EnumerateArray()
                    .Select(target => target.GetProperty("health").GetString()).ToList() ?? [],
            health => health.Count > 0 && health.TrueForAll(state => state == "up"),
            TimeSpan.FromMinutes(1), TimeSpan.FromSeconds(1), cancellationToken);
        return (health.Count(state => state == "up"), health.Count(state => state != "up"));
    }

    /// <summary>Polls the monitoring host's Prometheus, for at most two minutes, until it has evaluated every alert and
    /// knows of a base backup.</summary>
    /// <returns>Whether it has, and does.</returns>
    public static Task<bool> AlertsAsync(Platform platform, CancellationToken cancellationToken) => Poll.LastAsync(
        async () => AreEvaluated(await AskAsync(platform, "rules", cancellationToken))
            && await AskAsync(
                platform, "query?query=billing_backup_newest_timestamp_seconds%3E0", cancellationToken) is { } backups
            && backups.GetProperty("result").GetArrayLength() > 0,
        isFine => isFine, TimeSpan.FromMinutes(2), TimeSpan.FromSeconds(1), cancellationToken);

    private static bool AreEvaluated(JsonElement? groups)
    {
        var rules = groups?.GetProperty("groups").EnumerateArray()
            .SelectMany(group => group.GetProperty("rules").EnumerateArray()).ToList() ?? [];
        return rules.Count > 0 && rules.TrueForAll(rule => rule.GetProperty("health").GetString() == "ok");
    }

    // The data of an answer of Prometheus; null if there is none.
    private static async Task<JsonElement?> AskAsync(
        Platform platform, string question, CancellationToken cancellationToken)
    {
        var (exitCode, answer, _) = await platform.Tier("monitoring")[0].Shell().TryAsync(
            [$"curl -fsS 'http://127.0.0.1:9090/api/v1/{question}'"], cancellationToken);
        return exitCode == 0 ? JsonElement.Parse(answer).GetProperty("data") : null;
    }
}
