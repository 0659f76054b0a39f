using System.Text.Json;
using System.Text.RegularExpressions;

namespace Billing.DeploymentTests.Terraform;

/// <summary>Security groups allow exactly the documented connections.</summary>
public sealed partial class SecurityRules
{
    private static readonly string[] Kinds = ["ingress", "egress"];

    private static readonly string[] Variables = ["callers=[\"10.99.0.0/16\"]", TopologyModule.Webhooks];

    [Fact]
    public async Task Rules_open_exactly_the_ports_that_the_tiers_listen_on()
    {
        await using var copy = TerraformCopy.Make();

        Assert.Empty(OtherPorts(await copy.PlanAsync(TopologyModule.Module, TopologyModule.Webhooks)));
    }

    [Theory]
    [InlineData(
        "port = 5001, why = \"health\" },\n    { from = \"monitoring\", to = \"balance",
        "port = 5002, why = \"health\" },\n    { from = \"monitoring\", to = \"balance",
        "payment-backend listens at 5001 9100, and rules open 5002 9100")]
    [InlineData(
        "port = 9094", "port = 22",
        "kafka listens at 2379 2380 9092 9093 9094 9100, and rules open 22 2379 2380 9092 9093 9100")]
    public async Task A_rule_for_an_unused_port_is_found(string old, string mistake, string finding)
    {
        await using var copy = TerraformCopy.Make();

        var found = OtherPorts(await copy.Plant("modules/topology/rules.tf", old, mistake)
            .PlanAsync(TopologyModule.Module, TopologyModule.Webhooks));

        Assert.Contains(finding, found);
    }

    [Fact]
    public async Task Groups_allow_exactly_the_connections_of_the_rules()
    {
        await using var copy = await TerraformCopy.MakeWithProviderAsync();

        Assert.Empty(await LeaksAsync(copy));
    }

    [Theory]
    [InlineData(
        "modules/security/main.tf", "cidr_ipv4         = each.value.cidr",
        "cidr_ipv4         = \"0.0.0.0/0\"", "is open to 0.0.0.0/0")]
    [InlineData(
        "modules/security/main.tf", "to_port                      = each.value.port",
        "to_port                      = 65535", "opens ports")]
    [InlineData(
        "modules/security/main.tf", "from_port                    = each.value.port",
        "from_port                    = 22", "opens ports 22")]
    [InlineData(
        "modules/security/main.tf", "if contains(local.groups, rule.from)",
        "if rule.to != \"postgres\" && contains(local.groups, rule.from)",
        "no rule allows inbound monitoring-postgres-5432")]
    [InlineData(
        "modules/security/main.tf", "  tags        = { Name = \"${var.name}-${each.key}\" }",
        "  egress      = [{ cidr_blocks = [\"0.0.0.0/0\"], description = \"\", from_port = 0, ipv6_cidr_blocks = [], "
            + "prefix_list_ids = [], protocol = \"-1\", security_groups = [], self = false, to_port = 0 }]",
        "has inline rules")]
    [InlineData(
        "main.tf", "module \"access\"",
        "resource \"aws_vpc_security_group_ingress_rule\" \"ssh\" {\n  security_group_id = "
            + "module.security.group_ids[\"proxy\"]\n  cidr_ipv4 = \"10.0.0.0/8\"\n  ip_protocol = \"tcp\"\n  "
            + "from_port = 22\n  to_port = 22\n}\n\nmodule \"access\"",
        "aws_vpc_security_group_ingress_rule.ssh is not in the topology")]
    public async Task A_group_that_allows_more_or_less_is_found(string file, string old, string mistake, string finding)
    {
        await using var copy = await TerraformCopy.MakeWithProviderAsync();

        var found = await LeaksAsync(copy.Plant(file, old, mistake));

        Assert.Contains(found, leak => leak.Contains(finding, StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("callers must be", "callers=[\"0.0.0.0/0\"]")]
    [InlineData("callers must be", "callers=[\"somewhere\"]")]
    [InlineData("kafka_networks must contain", "kafka_bootstrap=k1:9092")]
    [InlineData("postgres_host must name", "postgres=existing")]
    [InlineData("postgres_networks must contain", "postgres=existing", "postgres_host=db.example.com")]
    [InlineData("postgres must be machine, rds or existing", "postgres=mysql")]
    public async Task An_invalid_or_missing_network_is_rejected(string message, params string[] variables)
    {
        await using var copy = await TerraformCopy.MakeWithProviderAsync();

        var result = await copy.TryPlanAsync("", variables);

        Assert.NotEqual(0, result.ExitCode);
        Assert.Contains(message, result.Errors.ReplaceLineEndings(" "), StringComparison.Ordinal);
    }

    /// <summary>Compares the rules with the table of deploy/README.md; 9090 is only used on the
    /// monitoring host itself.</summary>
    private static List<string> OtherPorts(TerraformPlan topology)
    {
        var opened = topology.Output("rules").EnumerateArray().Select(Rule.Read)
            .ToLookup(rule => rule.To, rule => rule.Port);
        return
        [
            .. from row in Repository.Lines("deploy/README.md").Select(line => TierRow().Match(line))
                .Where(row => row.Success)
               let tier = row.Groups[1].Value
               where tier != "monitoring"
               let listens = Ports(
                   Port().Matches(row.Groups[2].Value).Select(port => int.Parse(port.Value)).Append(9100))
               let rules = Ports(opened[tier])
               where listens != rules
               select $"{tier} listens at {listens}, and rules open {rules}",
            .. opened.Select(to => to.Key).Except(
                [
                    "load-balancer", "kafka", "postgres", "proxy",
                    "payment-backend", "balance-backend", "webhooks", "client",
                ])
               .Select(to => $"rules open {to}"),
        ];
    }

    private static string Ports(IEnumerable<int> ports) => string.Join(' ', ports.Distinct().Order());

    private static async Task<List<string>> LeaksAsync(TerraformCopy copy)
    {
        var rules = (await copy.PlanAsync(TopologyModule.Module, TopologyModule.Webhooks)).Output("rules")
            .EnumerateArray().Select(Rule.Read).ToList();
        var plan = await copy.PlanAsync("", Variables);
        var ingress = plan.OfType("aws_vpc_security_group_ingress_rule").ToList();
        var egress = plan.OfType("aws_vpc_security_group_egress_rule").ToList();
        return
        [
            .. ingress.Where(rule => rule.Text("cidr_ipv4").EndsWith("/0", StringComparison.Ordinal)
                || rule.Text("cidr_ipv6").Length > 0)
                .Select(rule => $"{rule.Address} is open to {rule.Text("cidr_ipv4")}{rule.Text("cidr_ipv6")}"),
            .. ingress.SelectMany(rule => Differences(rule, rules)),
            .. egress.Where(rule => rule.Address.Contains(".between[", StringComparison.Ordinal))
                .SelectMany(rule => Differences(rule, rules)),
            .. egress.Where(rule => rule.Text("cidr_ipv4").Length > 0 && rule.Text("from_port") is not ("80" or "443"))
                .Select(rule => $"{rule.Address} allows outbound {rule.Text("cidr_ipv4")} at {rule.Text("from_port")}"),
            .. rules.Where(rule => !ingress.Any(made => made.Key.StartsWith(rule.Key, StringComparison.Ordinal)))
                .Select(rule => $"no rule allows inbound {rule.Key}"),
            .. rules.Where(rule => rule.From != "callers" && !egress.Any(made => made.Key == rule.Key))
                .Select(rule => $"no rule allows outbound {rule.Key}"),
            .. plan.Resources.Where(HasInlineRules).Select(group => $"{group.Address} has inline rules"),
        ];
    }

    private static IEnumerable<string> Differences(PlannedResource made, List<Rule> rules)
    {
        var rule = rules.Find(
            rule => made.Key == rule.Key || (rule.From == "callers" && made.Key == $"{rule.Key}-10.99.0.0/16"));
        if (rule is null)
        {
            return [$"{made.Address} is not in the topology"];
        }
        var ports = $"{made.Text("from_port")} to {made.Text("to_port")} of {made.Text("ip_protocol")}";
        return ports == $"{rule.Port} to {rule.Port} of tcp" ? [] : [$"{made.Address} opens ports {ports}"];
    }

    private static bool HasInlineRules(PlannedResource resource) =>
        resource.Type is "aws_security_group" or "aws_default_security_group" &&
        Kinds.Any(kind =>
            resource.Values.TryGetProperty(kind, out var rules) && rules.ValueKind == JsonValueKind.Array
            && rules.GetArrayLength() > 0);

    [GeneratedRegex(@"^\| ([a-z-]+) \| \d+ \| (.*) \|$")]
    private static partial Regex TierRow();

    [GeneratedRegex(@"\b\d{4}\b")]
    private static partial Regex Port();

    private sealed record Rule(string From, string To, int Port)
    {
        public string Key => $"{From}-{To}-{Port}";

        public static Rule Read(JsonElement rule) => new(
            rule.GetProperty("from").GetString()!,
            rule.GetProperty("to").GetString()!, rule.GetProperty("port").GetInt32());
    }
}
