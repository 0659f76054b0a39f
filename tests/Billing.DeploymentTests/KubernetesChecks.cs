using System.Text.RegularExpressions;

namespace Billing.DeploymentTests;

/// <summary>deploy/kubernetes conforms to Kubernetes' schema and to our rules, and each check detects its mistake.</summary>
public sealed class KubernetesChecks
{
    [Fact]
    public async Task The_manifests_follow_the_schema() => Assert.Empty(await AgainstTheSchemaAsync(KubernetesManifests.Text));

    [Fact]
    public void The_manifests_follow_our_rules() => Assert.Empty(KubernetesRules.Problems(KubernetesManifests.Read(KubernetesManifests.Text)));

    [Theory]
    [InlineData("readinessProbe:", "readynessProbe:", "readynessProbe")]
    [InlineData("maxSkew: 1", "maxSkew: one", "maxSkew")]
    [InlineData("  strategy:", "  stratgy:", "stratgy")]
    [InlineData("kind: NetworkPolicy", "kind: NetworkPolice", "INetworkPolice")]
    [InlineData("apiVersion: policy/v1", "apiVersion: policy/v1beta1", "apiVersion")]
    [InlineData("          image: registry.example/billing-proxy:0.1.0", "          name: other", "Duplicate key")]
    public async Task The_schema_finds_a_planted_mistake(string there, string planted, string found) =>
        Assert.Contains(await AgainstTheSchemaAsync(Plant(Regex.Escape(there), planted)), problem => problem.Contains(found, StringComparison.Ordinal));

    [Theory]
    [InlineData("          livenessProbe:\n( {12}.*\n)+", "", "livenessProbe: missing")]
    [InlineData("          startupProbe:\n( {12}.*\n)+", "", "startupProbe: missing")]
    [InlineData("              port: health", "              port: helth", "the container has no port helth")]
    [InlineData("              memory: 1Gi", "", "resources.limits.memory is missing")]
    [InlineData("registry.example/billing-backend:0.1.0", "registry.example/billing-backend:latest", "its image is of version 'latest'")]
    [InlineData("terminationGracePeriodSeconds: 60", "terminationGracePeriodSeconds: 30", "terminationGracePeriodSeconds")]
    [InlineData("DrainTimeout: \"00:00:20\"", "DrainTimeout: \"00:01:20\"", "terminationGracePeriodSeconds")]
    [InlineData("maxUnavailable: 0", "maxUnavailable: 1", "maxUnavailable")]
    [InlineData("kind: PodDisruptionBudget", "kind: ConfigMap", "it has no PodDisruptionBudget")]
    [InlineData("topologyKey: topology.kubernetes.io/zone", "topologyKey: topology.kubernetes.io/region", "not spread over zones")]
    [InlineData("readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false", "has more privileges than it needs")]
    [InlineData("runAsNonRoot: true", "runAsNonRoot: false", "may run as root")]
    [InlineData("containerPort: 5001", "containerPort: 5002", "its ports are not those of its tier")]
    [InlineData("targetPort: grpc", "targetPort: gprc", "its pods have no port gprc")]
    [InlineData("  namespace: billing", "  namespace: biling", "not in the namespace billing")]
    [InlineData("configMapRef:\n                name: payment-backend", "configMapRef:\n                name: payments", "there is no config map payments")]
    [InlineData("Billing__Kafka__BootstrapServers", "Billing__Kafka__BootstrapServer", "no setting Billing__Kafka__BootstrapServer")]
    [InlineData("  Urls: http", "  Billing__EventStore__ConnectionString: Host=db;Password=x\n  Urls: http", "a secret in plain text")]
    [InlineData("kind: ConfigMap", "kind: Secret", "a secret in the repository")]
    [InlineData("billing/tier: client\n", "billing/tier: postgres\n", "postgres:5000 too much")]
    [InlineData("- port: 5432", "- port: 5433", ":5432 missing")]
    [InlineData("    - from:\n.*\n.*\n.*\n.*billing/tier: monitoring\n", "    - from: []\n", "anybody:")]
    [InlineData("  podSelector: {}\n", "  podSelector: { matchLabels: { a: b } }\n", "no NetworkPolicy blocks")]
    public void The_rules_find_a_planted_mistake(string there, string planted, string found) =>
        Assert.Contains(
            KubernetesRules.Problems(KubernetesManifests.Read(Plant(there, planted))),
            problem => problem.Contains(found, StringComparison.Ordinal));

    // Only once: a single mistake must be found.
    private static string Plant(string there, string planted)
    {
        var text = new Regex(there).Replace(KubernetesManifests.Text, planted, 1);
        Assert.NotEqual(KubernetesManifests.Text, text);
        return text;
    }

    private static async Task<IReadOnlyList<string>> AgainstTheSchemaAsync(string text)
    {
        var schema = await ReleaseSchema.ReadAsync("deploy/kubernetes/schema/manifests.json");
        try
        {
            return
            [
                .. KubernetesManifests.Read(text).All.SelectMany(manifest => schema.Problems($"I{manifest.Text("kind")}", manifest)
                    .Select(problem => $"{KubernetesManifests.Name(manifest)}: {problem}")),
            ];
        }
        catch (YamlDotNet.Core.YamlException e)
        {
            return [e.Message];
        }
    }
}
