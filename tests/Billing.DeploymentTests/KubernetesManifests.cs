using System.Text.Json.Nodes;

namespace Billing.DeploymentTests;

/// <summary>The manifests of deploy/kubernetes, as one cluster would get them.</summary>
internal sealed class KubernetesManifests
{
    private readonly IReadOnlyList<JsonObject> _all;

    private KubernetesManifests(IReadOnlyList<JsonObject> all) => _all = all;

    /// <summary>All manifests.</summary>
    public IEnumerable<JsonObject> All => _all;

    /// <summary>The files' text, with the separators between documents.</summary>
    public static string Text { get; } = string.Join("---\n", Repository.Files("deploy/kubernetes", "*.yaml").Order(StringComparer.Ordinal)
        .Select(file => File.ReadAllText(Path.Combine(Repository.Root, file))));

    /// <summary>Reads manifests.</summary>
    public static KubernetesManifests Read(string text) => new(ReleaseYaml.Read(text));

    /// <summary>Returns the manifests of one kind.</summary>
    public IEnumerable<JsonObject> Of(string kind) => _all.Where(manifest => manifest.Text("kind") == kind);

    /// <summary>Returns the name of a manifest for messages.</summary>
    public static string Name(JsonNode manifest) => $"{manifest.Text("kind")}/{manifest.Text("metadata.name")}";

    /// <summary>Whether a selector selects the pods of a deployment.</summary>
    public static bool Selects(JsonNode? selector, JsonNode deployment) =>
        selector is JsonObject { Count: > 0 } labels
        && labels.All(label => Label(deployment, label.Key) == label.Value?.ToString());

    /// <summary>Returns a label of a deployment's pods.</summary>
    public static string? Label(JsonNode deployment, string name) =>
        (deployment.At("spec.template.metadata.labels") as JsonObject)?[name]?.ToString();

    /// <summary>Returns the tier of a deployment's pods.</summary>
    public static string Tier(JsonNode deployment) => Label(deployment, "billing/tier") ?? "";

    /// <summary>Returns the settings that a deployment's container gets from config maps.</summary>
    public IEnumerable<KeyValuePair<string, JsonNode?>> Settings(JsonNode deployment) => deployment.Items("spec.template.spec.containers")
        .SelectMany(container => container.Items("envFrom").Select(source => source.Text("configMapRef.name")))
        .SelectMany(name => Of("ConfigMap").Where(map => map.Text("metadata.name") == name))
        .SelectMany(map => map.Entries("data"));
}
