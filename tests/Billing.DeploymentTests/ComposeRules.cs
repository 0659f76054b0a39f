using System.Globalization;
using System.Text.Json.Nodes;

namespace Billing.DeploymentTests;

/// <summary>The rules for the Compose file beyond the schema: each rule returns a line for each violation.</summary>
internal static class ComposeRules
{
    private static readonly string[] Limits = ["cpus", "memory"];

    /// <summary>Returns the violations of all rules in the file.</summary>
    public static IEnumerable<string> Problems(JsonNode file)
    {
        var services = file.Entries("services").Select(service => (Name: service.Key, Is: service.Value!)).ToList();
        return
        [
            .. services.SelectMany(service => Service(service.Name, service.Is)),
            .. services.Where(service => IsOurs(service.Is)).SelectMany(service => Ours(service.Name, service.Is)),
            .. services.SelectMany(one => services.Where(other => MayNotMeet(one.Name, other.Name) && Networks(one.Is).Intersect(Networks(other.Is)).Any())
                .Select(other => $"{one.Name} and {other.Name} share a network, but deploy/README.md allows no connection between them")),
        ];
    }

    private static IEnumerable<string> Service(string name, JsonNode service)
    {
        foreach (var limit in Limits.Where(limit => service.At($"deploy.resources.limits.{limit}") is null))
        {
            yield return $"{name}: no limit of {limit}";
        }
        if (service.At("healthcheck.test") is null && service.At("profiles") is null)
        {
            yield return $"{name}: no health check";
        }
        foreach (var (variable, value) in service.Entries("environment"))
        {
            var text = value?.ToString() ?? "";
            if (variable.Contains("PASSWORD", StringComparison.OrdinalIgnoreCase) || text.Contains("Password=", StringComparison.OrdinalIgnoreCase))
            {
                // ${NAME:?...}: without the variable, Compose stops with a message.
                if (!text.Contains("${BILLING_POSTGRES_PASSWORD:?", StringComparison.Ordinal))
                {
                    yield return $"{name}: {variable} holds a password, or does not require the variable";
                }
            }
        }
    }

    private static IEnumerable<string> Ours(string name, JsonNode service)
    {
        var version = (service.Text("image") ?? "").Split(':')[^1];
        if (version != ReleaseContract.Version)
        {
            yield return $"{name}: its image is of version '{version}', the product's is {ReleaseContract.Version}";
        }
        if (service.Text("pull_policy") != "never")
        {
            yield return $"{name}: pulls from a registry, where the image may have another owner (pull_policy)";
        }
        if (service.Text("read_only") != "true" || service.Text("cap_drop.0") != "ALL")
        {
            yield return $"{name}: it has more privileges than it needs (read_only, cap_drop)";
        }
        foreach (var (variable, _) in service.Entries("environment").Where(variable => !ReleaseContract.IsSetting(variable.Key)))
        {
            yield return $"{name}: there is no setting {variable} in docs/operations.md";
        }
        var drain = service.Text("environment.Billing__Proxy__DrainTimeout");
        if (drain is not null && TimeSpan.Parse(drain, CultureInfo.InvariantCulture).TotalSeconds + 10 >= Seconds(service.Text("stop_grace_period")))
        {
            yield return $"{name}: stop_grace_period is not longer than stopping takes";
        }
        foreach (var port in Ports(service).Where(port => !(ReleaseContract.Ports.GetValueOrDefault(name)?.Contains(port) ?? false)))
        {
            yield return $"{name}: port {port} is not one of its tier's";
        }
    }

    private static bool IsOurs(JsonNode service) => service.Text("image")?.StartsWith("billing-", StringComparison.Ordinal) ?? false;

    // kafka-2 belongs to the tier kafka.
    private static string Tier(string name) => name.StartsWith("kafka-", StringComparison.Ordinal) ? "kafka" : name;

    // Services that call the same third service may share its network.
    private static bool MayNotMeet(string one, string other) =>
        string.CompareOrdinal(one, other) < 0
        && !Calls(Tier(one), Tier(other))
        && !Called(Tier(one)).Append(Tier(one)).Intersect(Called(Tier(other)).Append(Tier(other))).Any();

    private static bool Calls(string one, string other) =>
        ReleaseContract.Arrows.Any(arrow => (arrow.From == one && arrow.To == other) || (arrow.From == other && arrow.To == one));

    private static IEnumerable<string> Called(string tier) =>
        ReleaseContract.Arrows.Where(arrow => arrow.From == tier).Select(arrow => arrow.To).Distinct();

    private static IEnumerable<string> Networks(JsonNode service) => service.Items("networks").Select(network => network!.ToString());

    // The ports that a program listens on, and those that are forwarded to it: HOST:CONTAINER.
    private static IEnumerable<int> Ports(JsonNode service) =>
    [
        .. service.Items("ports").Select(port => int.Parse(port!.ToString().Split(':')[^1], CultureInfo.InvariantCulture)),
        .. service.Entries("environment").Where(variable => variable.Key.EndsWith("Url", StringComparison.Ordinal) || variable.Key == "Urls")
            .Select(variable => new Uri(variable.Value!.ToString()).Port),
    ];

    private static double Seconds(string? period) =>
        period is not null && period.EndsWith('s') ? double.Parse(period[..^1], CultureInfo.InvariantCulture) : 10;
}
