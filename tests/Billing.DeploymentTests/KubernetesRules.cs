using System.Globalization;
using System.Text.Json.Nodes;
using static Billing.DeploymentTests.KubernetesManifests;

namespace Billing.DeploymentTests;

/// <summary>The rules for manifests beyond the schema: each rule returns a line for each violation.</summary>
internal static class KubernetesRules
{
    private static readonly string[] Probes = ["startupProbe", "readinessProbe", "livenessProbe"];

    private static readonly string[] Limits = ["requests.cpu", "requests.memory", "limits.cpu", "limits.memory"];

    /// <summary>Returns the violations of all rules in the manifests.</summary>
    public static IEnumerable<string> Problems(KubernetesManifests manifests) =>
    [
        .. manifests.All.Where(manifest => (manifest.Text("metadata.namespace") ?? manifest.Text("metadata.name")) != "billing"
                || (manifest.Text("kind") != "Namespace" && manifest.Text("metadata.namespace") is null))
            .Select(manifest => $"{Name(manifest)} is not in the namespace billing"),
        .. manifests.Of("Deployment").SelectMany(deployment => Deployment(manifests, deployment)),
        .. manifests.Of("Service").SelectMany(service => Service(manifests, service)),
        .. KubernetesSettings.Problems(manifests),
        .. KubernetesArrows.Problems(manifests),
    ];

    private static IEnumerable<string> Deployment(KubernetesManifests manifests, JsonNode deployment)
    {
        var found = new List<string>();
        var pod = deployment.At("spec.template.spec");
        Expect(Selects(deployment.At("spec.selector.matchLabels"), deployment), "its selector does not select its own pods");
        Expect(deployment.Text("spec.strategy.rollingUpdate.maxUnavailable") == "0", "a rolling update stops pods before their replacements are ready (maxUnavailable)");
        Expect(deployment.Text("spec.strategy.rollingUpdate.maxSurge") == "1", "a rolling update must add one pod at a time (maxSurge)");
        Expect(Budgets(manifests, deployment).Count() == 1, "it has no PodDisruptionBudget");
        Expect(GraceSeconds(deployment) > StopSeconds(manifests, deployment), "terminationGracePeriodSeconds is not longer than stopping takes");
        Expect(
            pod.Items("topologySpreadConstraints").Any(spread => spread.Text("topologyKey") == "topology.kubernetes.io/zone"
                && Selects(spread.At("labelSelector.matchLabels"), deployment)),
            "its pods are not spread over zones");
        Expect(pod.Text("securityContext.runAsNonRoot") == "true", "it may run as root");
        Expect(pod.Text("securityContext.seccompProfile.type") == "RuntimeDefault", "it has no seccomp profile");
        Expect(pod.Text("automountServiceAccountToken") == "false", "it gets a service account token that it does not need");
        Expect(Ports(deployment).SetEquals(ReleaseContract.Ports.GetValueOrDefault(Tier(deployment)) ?? new HashSet<int>()), "its ports are not those of its tier");
        found.AddRange(pod.Items("containers").SelectMany(container => Container(container!)));
        return found.Select(problem => $"{Name(deployment)}: {problem}");

        void Expect(bool holds, string otherwise)
        {
            if (!holds)
            {
                found.Add(otherwise);
            }
        }
    }

    private static IEnumerable<string> Container(JsonNode container)
    {
        var version = (container.Text("image") ?? "").Split(':')[^1];
        if (version != ReleaseContract.Version)
        {
            yield return $"its image is of version '{version}', the product's is {ReleaseContract.Version}";
        }
        foreach (var probe in Probes)
        {
            var problem = Probe(container, container.At(probe));
            if (problem is not null)
            {
                yield return $"{probe}: {problem}";
            }
        }
        foreach (var limit in Limits.Where(limit => container.At($"resources.{limit}") is null))
        {
            yield return $"resources.{limit} is missing";
        }
        if (container.Text("securityContext.readOnlyRootFilesystem") != "true"
            || container.Text("securityContext.allowPrivilegeEscalation") != "false"
            || container.Text("securityContext.capabilities.drop.0") != "ALL")
        {
            yield return "its container has more privileges than it needs (securityContext)";
        }
    }

    private static string? Probe(JsonNode container, JsonNode? probe)
    {
        var port = probe.Text("httpGet.port") ?? probe.Text("tcpSocket.port") ?? probe.Text("grpc.port");
        return port is null ? "missing"
            : container.Items("ports").Any(declared => port == declared.Text("name") || port == declared.Text("containerPort")) ? null
            : $"the container has no port {port}";
    }

    private static IEnumerable<string> Service(KubernetesManifests manifests, JsonNode service)
    {
        var chosen = manifests.Of("Deployment").Where(deployment => Selects(service.At("spec.selector"), deployment)).ToList();
        if (chosen.Count == 0)
        {
            yield return $"{Name(service)} selects no pods";
        }
        foreach (var port in service.Items("spec.ports"))
        {
            var target = port.Text("targetPort") ?? port.Text("port");
            if (!chosen.TrueForAll(deployment => deployment.Items("spec.template.spec.containers.0.ports")
                .Any(declared => target == declared.Text("name") || target == declared.Text("containerPort"))))
            {
                yield return $"{Name(service)}: its pods have no port {target}";
            }
        }
    }

    private static IEnumerable<JsonObject> Budgets(KubernetesManifests manifests, JsonNode deployment) => manifests.Of("PodDisruptionBudget")
        .Where(budget => Selects(budget.At("spec.selector.matchLabels"), deployment) && budget.Text("spec.maxUnavailable") == "1");

    private static HashSet<int> Ports(JsonNode deployment) =>
    [
        .. deployment.Items("spec.template.spec.containers").SelectMany(container => container.Items("ports"))
            .Select(port => (int)(port.Number("containerPort") ?? 0)),
    ];

    private static double GraceSeconds(JsonNode deployment) => deployment.Number("spec.template.spec.terminationGracePeriodSeconds") ?? 30;

    // A host waits 30 s by default; a proxy waits for its DrainTimeout and 10 s.
    private static double StopSeconds(KubernetesManifests manifests, JsonNode deployment)
    {
        var drain = manifests.Settings(deployment).FirstOrDefault(setting => setting.Key == "Billing__Proxy__DrainTimeout").Value?.ToString();
        var rest = deployment.Items("spec.template.spec.containers.0.lifecycle.preStop.exec.command").ElementAtOrDefault(1)?.ToString();
        return (drain is null ? 30 : TimeSpan.Parse(drain, CultureInfo.InvariantCulture).TotalSeconds + 10)
            + (rest is null ? 0 : double.Parse(rest, CultureInfo.InvariantCulture));
    }
}
