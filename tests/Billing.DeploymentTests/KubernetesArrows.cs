using System.Globalization;
using System.Text.Json.Nodes;
using static Billing.DeploymentTests.KubernetesManifests;

namespace Billing.DeploymentTests;

/// <summary>Compares the network policies with the allowed connections of deploy/README.md, as far as these concern pods of this
/// namespace.</summary>
internal static class KubernetesArrows
{
    private const int Dns = 53;

    /// <summary>Returns the problems of the manifests' network policies.</summary>
    public static IEnumerable<string> Problems(KubernetesManifests manifests)
    {
        var policies = manifests.Of("NetworkPolicy").ToList();
        if (!policies.Exists(policy => policy.At("spec.podSelector") is JsonObject { Count: 0 }
            && policy.At("spec.ingress") is null && policy.At("spec.egress") is null && ForBothWays(policy)))
        {
            yield return "no NetworkPolicy blocks the connections that the others do not allow";
        }
        foreach (var tier in manifests.Of("Deployment").Select(Tier))
        {
            var own = policies.Where(policy => (policy.At("spec.podSelector.matchLabels") as JsonObject)?["billing/tier"]?.ToString() == tier).ToList();
            if (own.Count != 1 || !ForBothWays(own[0]))
            {
                yield return $"{tier} needs one NetworkPolicy for both directions";
                continue;
            }
            var problem = Difference("in", Callers(own[0]), ReleaseContract.Arrows.Where(arrow => arrow.To == tier).Select(arrow => (arrow.From, arrow.Port)))
                ?? Difference("out", Called(own[0]), ReleaseContract.Arrows.Where(arrow => arrow.From == tier).Select(arrow => ("", arrow.Port)));
            if (problem is not null)
            {
                yield return $"{Name(own[0])}: {problem}";
            }
        }
    }

    private static bool ForBothWays(JsonNode policy) => policy.Items("spec.policyTypes").Count() == 2;

    private static IEnumerable<(string Tier, int Port)> Callers(JsonNode policy) =>
        from rule in policy.Items("spec.ingress")
        from peer in rule.Items("from").DefaultIfEmpty()
        from port in rule.Items("ports").DefaultIfEmpty()
        select ((peer.At("podSelector.matchLabels") as JsonObject)?["billing/tier"]?.ToString() ?? "anybody", PortOf(port));

    // Brokers and the database are outside the cluster: the port identifies them.
    private static IEnumerable<(string Tier, int Port)> Called(JsonNode policy) =>
        from rule in policy.Items("spec.egress")
        from port in rule.Items("ports").DefaultIfEmpty()
        where PortOf(port) != Dns || rule.At("to") is null
        select ("", PortOf(port));

    private static int PortOf(JsonNode? port) => int.TryParse(port.Text("port"), CultureInfo.InvariantCulture, out var number) ? number : 0;

    private static string? Difference(string way, IEnumerable<(string Tier, int Port)> there, IEnumerable<(string Tier, int Port)> wanted)
    {
        var more = there.Except(wanted).Select(arrow => $"{arrow.Tier}:{arrow.Port} too much");
        var less = wanted.Except(there).Select(arrow => $"{arrow.Tier}:{arrow.Port} missing");
        var all = string.Join(", ", more.Concat(less));
        return all.Length == 0 ? null : $"{way}: {all}, according to deploy/README.md";
    }
}
