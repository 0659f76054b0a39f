using System.Globalization;
using System.Text.Json.Nodes;
using Billing.Hosting;
using Billing.Operator.Credentials;

namespace Billing.DeploymentTests;

/// <summary>The rules for the Compose file beyond the schema: each rule returns a line for each violation.</summary>
internal static class ComposeRules
{
    private const string Admin = "Billing__Admin__Url";
    private const string SecretsFolder = "/run/secrets/";

    private static readonly string[] Limits = ["cpus", "memory"];

    // What a proxy needs so that strangers get nothing; the issuer and the audience are those of `./billing token`.
    private static readonly (string Variable, string? Value)[] Secured =
    [
        (Admin, null), ("Billing__Tls__CertificateFile", null), ("Billing__Auth__JwksFile", null),
        ("Billing__Auth__Issuer", TokenIssuer.Issuer), ("Billing__Auth__Audience", TokenIssuer.Audience),
    ];

    // What keeps the answers to a proxy's callers from other proxies.
    private static readonly string[] Named =
        ["Billing__Kafka__ProxyName", "Billing__Kafka__Properties__sasl.username"];

    /// <summary>Returns the violations of all rules in the file.</summary>
    public static IEnumerable<string> Problems(JsonNode file)
    {
        var services = file.Entries("services").Select(service => (Name: service.Key, Is: service.Value!)).ToList();
        return
        [
            .. services.SelectMany(service => Service(service.Name, service.Is)),
            .. services.SelectMany(service => Secrets(file, service.Name, service.Is)),
            .. services.Where(service => Tier(service.Name) == "proxy")
                .SelectMany(service => Proxy(service.Name, service.Is)),
            .. file.Entries("networks").SelectMany(network => Network(
                [
                    .. services.Where(service => service.Is.Items("networks")
                        .Any(one => one!.ToString() == network.Key)).Select(service => service.Name),
                ])),
            .. file.Entries("networks").Where(
                network => network.Key is not ("callers" or "receivers") && network.Value.Text("internal") != "true")
                .Select(network => $"the network {network.Key} is not internal: others on this machine reach it"),
            .. services.SelectMany(service => Published(service.Is)).GroupBy(port => port.Host)
                .Where(port => port.Count() > 1)
                .Select(port => $"port {port.Key} of this machine is published twice"),
        ];
    }

    private static IEnumerable<string> Service(string name, JsonNode service)
    {
        foreach (var limit in Limits.Where(limit => service.At($"deploy.resources.limits.{limit}") is null))
        {
            yield return $"{name}: no limit of {limit}";
        }
        if (service.At("healthcheck.test") is null && service.Text("restart") == "always")
        {
            yield return $"{name}: no health check";
        }
        // Podman does not restart a container whose dependency is not running.
        if (service.At("depends_on") is not null && service.Text("restart") == "always")
        {
            yield return $"{name}: it depends on another's start (depends_on)";
        }
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
        foreach (var (variable, _) in service.Entries("environment")
            .Where(variable => !ReleaseContract.IsSetting(variable.Key)))
        {
            yield return $"{name}: there is no setting {variable} in docs/operations/settings.md";
        }
        var drain = service.Text("environment.Billing__Proxy__DrainTimeout");
        if (drain is not null
            && (TimeSpan.Parse(drain, CultureInfo.InvariantCulture) + StopTimes.Ending).TotalSeconds
                >= Seconds(service.Text("stop_grace_period")))
        {
            yield return $"{name}: stop_grace_period is not longer than stopping takes";
        }
        var ports = Published(service).Select(port => port.Container)
            .Concat(Urls(service).Where(url => url.Variable != Admin).Select(url => url.Address.Port));
        foreach (var port in ports.Where(port => port != AdminPort(service)
            && !(ReleaseContract.Ports.GetValueOrDefault(Tier(name))?.Contains(port) ?? false)))
        {
            yield return $"{name}: port {port} is not one of its tier's";
        }
    }

    private static IEnumerable<string> Secrets(JsonNode file, string name, JsonNode service)
    {
        var mounted = service.Items("secrets").Select(secret =>
            (Name: secret.Text("source") ?? secret!.ToString(), Target: secret.Text("target") ?? secret!.ToString()))
            .ToList();
        foreach (var (secret, _) in mounted.Where(secret => file.At("secrets")?[secret.Name].Text("file")
            ?.StartsWith("./credentials/", StringComparison.Ordinal) != true))
        {
            yield return $"{name}: the secret {secret} is no file of ./credentials";
        }
        foreach (var (variable, value) in service.Entries("environment")
            .Select(variable => (variable.Key, variable.Value?.ToString() ?? "")))
        {
            if ((variable + value).Contains("password", StringComparison.OrdinalIgnoreCase))
            {
                yield return $"{name}: {variable} holds a password";
            }
            if (value.StartsWith(SecretsFolder, StringComparison.Ordinal)
                && mounted.TrueForAll(secret => SecretsFolder + secret.Target != value))
            {
                yield return $"{name}: {variable} is none of its secrets";
            }
        }
    }

    private static IEnumerable<string> Proxy(string name, JsonNode service)
    {
        foreach (var (variable, value) in Secured)
        {
            var text = service.Text($"environment.{variable}");
            if (string.IsNullOrEmpty(text) || (value ?? text) != text)
            {
                yield return $"{name}: {variable} is missing, or not {value ?? "set"}";
            }
        }
        var variables = service.Entries("environment")
            .ToDictionary(variable => variable.Key, variable => variable.Value?.ToString());
        foreach (var variable in Named.Where(variable => variables.GetValueOrDefault(variable) != name))
        {
            yield return $"{name}: {variable} is not its name, so that it may reach the answers of another proxy";
        }
        if (!service.Items("secrets").Any(secret => secret.Text("source") == "kafka-" + name))
        {
            yield return $"{name}: its password at the brokers is not its own";
        }
        if (service.At("environment.Billing__Insecure") is not null)
        {
            yield return $"{name}: Billing__Insecure lets everybody do everything";
        }
        foreach (var (variable, address) in Urls(service).Where(url => url.Address.Scheme != Uri.UriSchemeHttps))
        {
            yield return $"{name}: {variable} has no TLS";
        }
        if (Urls(service).Any(url => url.Variable != Admin && url.Address.Port == AdminPort(service)))
        {
            yield return $"{name}: the admin address is also one for callers";
        }
        foreach (var port in Published(service)
            .Where(port => port.Container == AdminPort(service) && port.Address != "127.0.0.1"))
        {
            yield return $"{name}: the admin address is published at {port.Address}:{port.Host}, for others "
                + "than this machine";
        }
    }

    // kafka-2 belongs to the tier kafka. The topics are created from the monitoring machine.
    private static string Tier(string name) =>
        name == "topics" ? "monitoring" : name.TrimEnd('1', '2', '3').TrimEnd('-');

    // Services that call the same third service may share its network.
    private static IEnumerable<string> Network(string[] members) =>
        from one in members
        from other in members
        where string.CompareOrdinal(one, other) < 0 && !Calls(one, other)
            && !Array.Exists(members, third => Calls(one, third) && Calls(third, other))
        select $"{one} and {other} share a network, but deploy/README.md allows no connection between them";

    private static bool Calls(string one, string other) => Tier(one) == Tier(other)
        || ReleaseContract.Arrows.Any(arrow => (arrow.From, arrow.To) == (Tier(one), Tier(other))
            || (arrow.From, arrow.To) == (Tier(other), Tier(one)));

    // [ADDRESS:]HOST:CONTAINER.
    private static IEnumerable<(string Address, int Host, int Container)> Published(JsonNode service) =>
        from port in service.Items("ports")
        let parts = port.ToString().Split(':')
        select (parts.Length > 2 ? parts[0] : "0.0.0.0", Number(parts[^2]), Number(parts[^1]));

    private static IEnumerable<(string Variable, Uri Address)> Urls(JsonNode service) => service.Entries("environment")
        .Where(variable => (variable.Key.EndsWith("Url", StringComparison.Ordinal)
            && !variable.Key.Contains("__Receivers__", StringComparison.Ordinal)) || variable.Key == "Urls")
        .Select(variable => (variable.Key, new Uri(variable.Value!.ToString())));

    private static int? AdminPort(JsonNode service) =>
        service.Text($"environment.{Admin}") is { } url ? new Uri(url).Port : null;

    private static int Number(string text) => int.Parse(text, CultureInfo.InvariantCulture);

    private static double Seconds(string? period) =>
        period is not null && period.EndsWith('s') ? double.Parse(period[..^1], CultureInfo.InvariantCulture) : 10;
}
