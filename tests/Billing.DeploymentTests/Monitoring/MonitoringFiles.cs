using System.Text.Json.Nodes;

namespace Billing.DeploymentTests.Monitoring;

/// <summary>The files of deploy/monitoring are valid for the programs that read them, and each check
/// detects its mistake.</summary>
public sealed class MonitoringFiles
{
    private static readonly string Folder = Path.Combine(Repository.Root, "deploy/monitoring");

    private static JsonObject Collector { get; } = ReleaseYaml.Read(
        File.ReadAllText(Path.Combine(Folder, "collector/config.yaml")))[0];

    // Under deploy/.
    private const string ServiceAlerts = "monitoring/prometheus/rules/alerts.yml";
    private const string ServiceTests = "monitoring/prometheus/tests/alerts.yml";
    private const string MachineAlerts = "bootstrap/monitoring/alerts.yml";
    private const string MachineTests = "monitoring/prometheus/tests/machines.yml";

    [Theory]
    [InlineData(ServiceTests)]
    [InlineData(MachineTests)]
    public async Task Every_alert_fires_on_its_condition_and_not_in_normal_operation(string tests) =>
        (await ExternalTool.RunAsync(Promtool(), ["test", "rules", "deploy/" + tests])).Succeeded();

    [Fact]
    public async Task Prometheus_accepts_the_configuration_and_its_rules() => (await ExternalTool.RunAsync(
        Promtool(), ["check", "config", Path.Combine(Folder, "prometheus/prometheus.yml")])).Succeeded();

    [Fact]
    public async Task Prometheus_accepts_the_configuration_of_the_monitoring_host_and_its_rules()
    {
        var promtool = Promtool();
        var host = Directory.CreateTempSubdirectory("billing-monitoring-");
        var script = $"""
            set -euo pipefail; BILLING_BOOTSTRAP='{Repository.Root}/deploy/bootstrap'
            BILLING_HOSTS=kafka-1=10.0.0.11,postgres-1=10.0.0.21,proxy-1=10.0.0.31 BILLING_INSECURE=false
            proxy_authority=$PWD/proxies-ca.pem; touch "$proxy_authority"
            . "$BILLING_BOOTSTRAP/tiers/monitoring.sh"
            prometheus_settings >prometheus.yml; cp "$BILLING_BOOTSTRAP/monitoring/alerts.yml" billing-alerts.yml
            cp '{Folder}/prometheus/rules/alerts.yml' billing-service-alerts.yml
            cp '{Folder}/prometheus/rules/recording.yml' billing-service-recording.yml
            grep -c 10.0.0.31 prometheus.yml
            '{promtool}' check config prometheus.yml
            """;

        var result = await ExternalTool.RunAsync(ExternalTool.Need("bash"), ["-c", script], host.FullName);
        host.Delete(recursive: true);

        Assert.StartsWith("2\n", result.Succeeded().Output, StringComparison.Ordinal);
        Assert.Equal(3, result.Output.Split("rules found").Length - 1);
    }

    [Theory]
    [InlineData(ServiceAlerts, ServiceTests)]
    [InlineData(MachineAlerts, MachineTests)]
    public void Every_alert_has_a_test_that_it_fires_and_one_that_it_does_not(string rules, string tests)
    {
        var cases = Read(tests).Items("tests").SelectMany(test => test.Items("alert_rule_test")).ToList();
        var alerts = Read(rules).Items("groups").SelectMany(group => group.Items("rules"))
            .Select(rule => rule.Text("alert")!).ToList();

        Assert.NotEmpty(alerts);
        Assert.All(
            alerts, alert => Assert.Contains(cases, c => c.Text("alertname") == alert && c.Items("exp_alerts").Any()));
        Assert.All(
            alerts, alert => Assert.Contains(cases, c => c.Text("alertname") == alert && !c.Items("exp_alerts").Any()));
    }

    [Fact]
    public async Task The_tests_detect_a_changed_threshold()
    {
        var promtool = Promtool();
        var copy = Directory.CreateTempSubdirectory("billing-rules-");
        try
        {
            foreach (var file in (string[])["rules/recording.yml", "rules/alerts.yml", "tests/alerts.yml"])
            {
                var text = await File.ReadAllTextAsync(
                    Path.Combine(Folder, "prometheus", file), TestContext.Current.CancellationToken);
                Directory.CreateDirectory(Path.GetDirectoryName(Path.Combine(copy.FullName, file))!);
                await File.WriteAllTextAsync(
                    Path.Combine(copy.FullName, file), text.Replace("> 0.01", "> 0.5", StringComparison.Ordinal),
                    TestContext.Current.CancellationToken);
            }

            var result = await ExternalTool.RunAsync(
                promtool, ["test", "rules", Path.Combine(copy.FullName, "tests/alerts.yml")]);

            Assert.NotEqual(0, result.ExitCode);
            Assert.Contains("BillingCallsFail", result.Output + result.Errors, StringComparison.Ordinal);
        }
        finally
        {
            copy.Delete(recursive: true);
        }
    }

    [Theory]
    [InlineData(ServiceAlerts)]
    [InlineData(MachineAlerts)]
    public void Every_alert_has_a_severity_a_summary_and_an_action(string rules) => Assert.All(
        Read(rules).Items("groups").SelectMany(group => group.Items("rules")),
        rule =>
        {
            Assert.Contains(rule.Text("labels.severity"), (string[])["page", "ticket"]);
            Assert.False(string.IsNullOrEmpty(rule.Text("annotations.summary")));
            Assert.False(string.IsNullOrEmpty(rule.Text("annotations.action")));
        });

    [Fact]
    public void The_collectors_pipelines_use_exactly_its_components() => Assert.Empty(CollectorProblems(Collector));

    [Theory]
    [InlineData("exporters", "otlp/traces", "traces: there is no otlp/traces among the exporters")]
    [InlineData("receivers", "otlp", "traces: there is no otlp among the receivers")]
    [InlineData("processors", "batch", "logs: there is no batch among the processors")]
    [InlineData("extensions", "health_check", "there is no health_check among the extensions")]
    public void A_missing_component_is_found(string kind, string name, string found)
    {
        var planted = (JsonObject)Collector.DeepClone();
        ((JsonObject)planted[kind]!).Remove(name);
        Assert.Contains(found, CollectorProblems(planted));
    }

    [Fact]
    public void An_unused_component_is_found()
    {
        var planted = (JsonObject)Collector.DeepClone();
        ((JsonObject)planted["exporters"]!)["debug"] = new JsonObject();
        Assert.Contains("no pipeline uses debug of the exporters", CollectorProblems(planted));
    }

    [Fact]
    public void The_dashboards_panels_are_complete_and_do_not_overlap()
    {
        var panels = JsonNode.Parse(
            File.ReadAllText(Path.Combine(Folder, "grafana/billing.json")))!["panels"]!.AsArray();
        Assert.True(panels.Count > 20);
        Assert.Equal(panels.Count, panels.Select(p => (int)p!["id"]!).Distinct().Count());
        var cells = panels.SelectMany(p =>
            from x in Enumerable.Range((int)p!["gridPos"]!["x"]!, (int)p["gridPos"]!["w"]!)
            from y in Enumerable.Range((int)p["gridPos"]!["y"]!, (int)p["gridPos"]!["h"]!)
            select (x, y)).ToList();
        Assert.Equal(cells.Count, cells.Distinct().Count());
        Assert.All(cells, cell => Assert.InRange(cell.x, 0, 23));
        Assert.All(panels.Where(p => (string)p!["type"]! != "row"), p =>
        {
            Assert.NotEmpty(p!["targets"]!.AsArray());
            Assert.NotNull(p["fieldConfig"]!["defaults"]!["unit"]);
        });
    }

    private static JsonObject Read(string file) =>
        ReleaseYaml.Read(File.ReadAllText(Path.Combine(Repository.Root, "deploy", file)))[0];

    private static string Promtool()
    {
        var beside = Environment.GetEnvironmentVariable("BILLING_PROMETHEUS_BIN") is { Length: > 0 } folder
            ? Path.Combine(folder, "promtool")
            : null;
        return File.Exists(beside) ? beside : ExternalTool.Need("promtool");
    }

    private static List<string> CollectorProblems(JsonObject collector)
    {
        var problems = new List<string>();
        var used = new HashSet<(string, string)>();
        foreach (var (signal, pipeline) in collector["service"]!["pipelines"]!.AsObject())
        {
            foreach (var kind in (string[])["receivers", "processors", "exporters"])
            {
                foreach (var name in pipeline.Items(kind).Select(n => n!.ToString()))
                {
                    used.Add((kind, name));
                    if (collector[kind]![name] is null)
                    {
                        problems.Add($"{signal}: there is no {name} among the {kind}");
                    }
                }
            }
        }
        problems.AddRange(collector.Items("service.extensions").Select(n => n!.ToString())
            .Where(name => collector["extensions"]![name] is null)
            .Select(name => $"there is no {name} among the extensions"));
        problems.AddRange(
            from kind in (string[])["receivers", "processors", "exporters"]
            from part in collector[kind]!.AsObject()
            where !used.Contains((kind, part.Key))
            select $"no pipeline uses {part.Key} of the {kind}");
        var ports = Endpoints(collector).Select(endpoint => endpoint.Split(':')[^1]).ToList();
        problems.AddRange(ports.GroupBy(port => port).Where(g => g.Count() > 1)
            .Select(g => $"two components listen on port {g.Key}"));
        return problems;
    }

    private static IEnumerable<string> Endpoints(JsonNode? node) => node switch
    {
        JsonObject map => map.SelectMany(entry =>
            entry.Key == "endpoint" && entry.Value!.ToString() is var at
            && at.StartsWith("0.0.0.0:", StringComparison.Ordinal)
                ? [at]
                : Endpoints(entry.Value)),
        JsonArray list => list.SelectMany(Endpoints),
        _ => [],
    };
}
