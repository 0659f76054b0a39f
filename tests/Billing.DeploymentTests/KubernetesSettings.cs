using System.Text.Json.Nodes;
using static Billing.DeploymentTests.KubernetesManifests;

namespace Billing.DeploymentTests;

/// <summary>The rules for settings: they exist, their sources exist, and they contain no secrets.</summary>
internal static class KubernetesSettings
{
    /// <summary>Returns the problems of the manifests' settings.</summary>
    public static IEnumerable<string> Problems(KubernetesManifests manifests) =>
    [
        .. manifests.Of("Secret").Select(secret => $"{Name(secret)}: a secret in the repository"),
        .. manifests.Of("ConfigMap").SelectMany(map => map.Entries("data").SelectMany(setting => Setting(Name(map), setting.Key, setting.Value))),
        .. manifests.Of("Deployment").SelectMany(deployment => deployment.Items("spec.template.spec.containers")
            .SelectMany(container => container.Items("env"))
            .SelectMany(variable => Setting(Name(deployment), variable.Text("name") ?? "", variable.At("value")))),
        .. manifests.Of("Deployment").SelectMany(deployment => Sources(manifests, deployment)),
    ];

    /// <summary>Returns the problems of one setting: it does not exist, or it is a secret in plain text.</summary>
    public static IEnumerable<string> Setting(string where, string variable, JsonNode? value)
    {
        if (!ReleaseContract.IsSetting(variable))
        {
            yield return $"{where}: there is no setting {variable} in docs/operations.md";
        }
        if (value is not null && IsSecret(variable, value.ToString()))
        {
            yield return $"{where}: {variable} is a secret in plain text";
        }
    }

    private static bool IsSecret(string variable, string value) =>
        !value.Contains("${", StringComparison.Ordinal)
        && (variable.EndsWith("ConnectionString", StringComparison.OrdinalIgnoreCase)
            || variable.Contains("password", StringComparison.OrdinalIgnoreCase)
            || value.Contains("password=", StringComparison.OrdinalIgnoreCase));

    private static IEnumerable<string> Sources(KubernetesManifests manifests, JsonNode deployment)
    {
        foreach (var source in deployment.Items("spec.template.spec.containers").SelectMany(container => container.Items("envFrom")))
        {
            var map = source.Text("configMapRef.name");
            if (map is not null && manifests.Of("ConfigMap").All(known => known.Text("metadata.name") != map))
            {
                yield return $"{Name(deployment)}: there is no config map {map}";
            }
            // A pod waits for a missing secret unless it is optional; not every cluster has this one.
            if (source.At("secretRef") is not null && source.Text("secretRef.optional") != "true")
            {
                yield return $"{Name(deployment)}: the secret {source.Text("secretRef.name")} is not optional";
            }
        }
    }
}
