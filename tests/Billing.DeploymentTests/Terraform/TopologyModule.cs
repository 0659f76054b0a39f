using System.Text.Json;
using System.Text.Json.Nodes;

namespace Billing.DeploymentTests.Terraform;

/// <summary>The module that defines the machines: it needs no provider, so Terraform can plan it anywhere.</summary>
public sealed class TopologyModule
{
    internal const string Module = "modules/topology";

    /// <summary>A variable with which there are machines of every tier.</summary>
    internal const string Webhooks = "webhooks={shop={url=\"https://shop.example/events\"}}";

    private static readonly string[] Kept = ["hosts", "rules", "subnets"];

    [Fact]
    public async Task Topology_json_equals_the_modules_default_outputs()
    {
        await using var copy = TerraformCopy.Make();

        var plan = await copy.PlanAsync(Module);

        var planned = new JsonObject(Kept
            .Select(name => KeyValuePair.Create(name, JsonNode.Parse(plan.Output(name).GetRawText()))));
        var kept = JsonNode.Parse(File.ReadAllText(Path.Combine(Repository.Root, "deploy/terraform/topology.json")));
        Assert.True(JsonNode.DeepEquals(planned, kept), "the outputs of modules/topology differ from topology.json");
    }

    [Fact]
    public async Task All_machines_have_different_addresses()
    {
        await using var copy = TerraformCopy.Make();

        var plan = await copy.PlanAsync(
            Module,
            """tiers={kafka={count=9,volume_gib=40},"""
                + """proxy={count=30},"payment-backend"={count=30},"balance-backend"={count=30},client={count=30}}""");

        var addresses = plan.Output("hosts").EnumerateArray()
            .Select(host => host.GetProperty("address").GetString()).ToList();
        Assert.Equal(9 + (4 * 30) + 3, addresses.Distinct().Count());
        Assert.Equal(addresses.Count, addresses.Distinct().Count());
    }

    [Fact]
    public async Task Further_databases_have_machines_of_their_own_and_change_none_of_the_others()
    {
        await using var copy = TerraformCopy.Make();

        var one = (await copy.PlanAsync(Module)).Output("hosts").EnumerateArray().ToDictionary(Name);
        var two = (await copy.PlanAsync(Module, "further_databases=[\"two\",\"three\"]")).Output("hosts")
            .EnumerateArray().ToDictionary(Name);
        var more = (await copy.PlanAsync(
            Module, "further_databases=[\"two\",\"three\"]",
            "tiers={postgres={count=3}}")).Output("hosts").EnumerateArray().ToDictionary(Name);

        Assert.Equal(
            ["postgres-three-1", "postgres-three-2", "postgres-two-1", "postgres-two-2"],
            two.Keys.Except(one.Keys).Order());
        Assert.All(one.Keys, name => Assert.Equal(Address(one[name]), Address(two[name])));
        Assert.All(two.Keys, name => Assert.Equal(Address(two[name]), Address(more[name])));
        Assert.Equal(more.Count, more.Values.Select(Address).Distinct().Count());
        Assert.Equal(["a", "b"], two.Values.Where(host => Name(host).StartsWith("postgres-", StringComparison.Ordinal)
            && Name(host).Length == 10).Select(Zone).Order());
        Assert.Equal("c", Zone(two["postgres-three-1"]));
        Assert.Equal("two", Variable(two["postgres-two-1"], "BILLING_DATABASE"));
        Assert.Equal(
            "billing=10.20.0.21:5432,10.20.1.21:5432 two=10.20.1.22:5432,10.20.2.22:5432 "
                + "three=10.20.2.23:5432,10.20.0.23:5432",
            Variable(two["payment-backend-1"], "BILLING_POSTGRES"));
        Assert.Equal("10.20.0.21:5432,10.20.1.21:5432", Variable(one["payment-backend-1"], "BILLING_POSTGRES"));

        static string Name(JsonElement host) => host.GetProperty("name").GetString()!;
        static string Address(JsonElement host) => host.GetProperty("address").GetString()!;
        static string Zone(JsonElement host) => host.GetProperty("zone").GetString()!;
        static string Variable(JsonElement host, string name) =>
            host.GetProperty("environment").GetProperty(name).GetString()!;
    }

    [Fact]
    public async Task Existing_brokers_and_an_existing_database_replace_machines()
    {
        await using var copy = TerraformCopy.Make();

        var plan = await copy.PlanAsync(
            Module, "kafka_bootstrap=k1.example.com:9096,k2.example.com:9096", "postgres_own=false",
            "postgres_host=db.example.com", "postgres_port=6432");

        var hosts = plan.Output("hosts").EnumerateArray().ToList();
        Assert.DoesNotContain(hosts, host => host.GetProperty("tier").GetString() is "kafka" or "postgres");
        var environment = hosts[0].GetProperty("environment");
        Assert.Equal("k1.example.com:9096,k2.example.com:9096", environment.GetProperty("BILLING_KAFKA").GetString());
        Assert.Equal("", environment.GetProperty("BILLING_KAFKA_NODES").GetString());
        Assert.Equal("db.example.com:6432", environment.GetProperty("BILLING_POSTGRES").GetString());
        Assert.Equal("false", environment.GetProperty("BILLING_POSTGRES_OWN").GetString());
        var rules = plan.Output("rules").EnumerateArray().ToList();
        Assert.All(
            rules.Where(rule => rule.GetProperty("to").GetString() == "kafka"),
            rule => Assert.Equal(9096, rule.GetProperty("port").GetInt32()));
        Assert.All(
            rules.Where(rule => rule.GetProperty("to").GetString() == "postgres"),
            rule => Assert.Equal(6432, rule.GetProperty("port").GetInt32()));
    }

    [Fact]
    public async Task Only_with_receivers_there_are_machines_that_send_events()
    {
        await using var copy = TerraformCopy.Make();

        var plan = await copy.PlanAsync(
            Module,
            """webhooks={shop={url="https://shop.example/events",events=["PAYMENT_ACCEPTED","PAYMENT_DECLINED"]},"""
                + """other={url="https://other.example",payment_types=["VISA"]}}""",
            "webhook_networks=[\"10.1.0.0/16\",\"10.2.0.0/16\"]");

        var hosts = plan.Output("hosts").EnumerateArray().ToList();
        var webhooks = hosts.FindAll(host => host.GetProperty("tier").GetString() == "webhooks");
        Assert.Equal(["webhooks-1", "webhooks-2"], webhooks.Select(host => host.GetProperty("name").GetString()));
        Assert.All(webhooks, host => Assert.Equal(
            "Receivers:other:Url=https://other.example Receivers:shop:Url=https://shop.example/events "
                + "Receivers:shop:Events=PAYMENT_ACCEPTED,PAYMENT_DECLINED"
            + " Receivers:other:PaymentTypes=VISA AllowedNetworks=10.1.0.0/16,10.2.0.0/16",
            host.GetProperty("environment").GetProperty("BILLING_WEBHOOKS").GetString()));
        Assert.All(
            hosts.Except(webhooks),
            host => Assert.Equal("", host.GetProperty("environment").GetProperty("BILLING_WEBHOOKS").GetString()));
        Assert.Equal(
            ["monitoring webhooks 5001", "monitoring webhooks 9100", "webhooks kafka 9092", "webhooks postgres 5432"],
            plan.Output("rules").EnumerateArray()
                .Select(rule => $"{rule.GetProperty("from")} {rule.GetProperty("to")} {rule.GetProperty("port")}")
                .Where(rule => rule.Contains("webhooks", StringComparison.Ordinal)).Order());
    }

    [Theory]
    [InlineData("insecure=false", "billing", "billing", "")]
    [InlineData(
        "tokens={authority=\"https://login.example.com/tenant\",audience=\"api://billing\"}", "", "api://billing",
        "https://login.example.com/tenant")]
    [InlineData("tokens={issuer=\"https://login.example.com\"}", "https://login.example.com", "billing", "")]
    public async Task Proxies_accept_tokens_of_the_platforms_issuer_unless_another_one_is_named(
        string variable, string issuer, string audience, string authority)
    {
        await using var copy = TerraformCopy.Make();

        var variables = (await copy.PlanAsync(Module, variable)).Output("hosts")[0].GetProperty("environment");

        Assert.Equal(
            (issuer, audience, authority),
            (variables.GetProperty("BILLING_TOKEN_ISSUER").GetString(),
                variables.GetProperty("BILLING_TOKEN_AUDIENCE").GetString(),
                variables.GetProperty("BILLING_TOKEN_AUTHORITY").GetString()));
    }

    [Theory]
    [InlineData("webhooks={Shop={url=\"https://shop.example\"}}", "webhooks: a receiver's name must be")]
    [InlineData(
        "webhooks={shop={url=\"http://shop.example\"}}", "webhooks: a url must look like https://shop.example/events")]
    [InlineData(
        "webhooks={shop={url=\"https://shop.example:8443/\"}}",
        "webhooks: a url must look like https://shop.example/events")]
    [InlineData(
        "webhooks={shop={url=\"https://shop.example/it's\"}}",
        "webhooks: a url must look like https://shop.example/events")]
    [InlineData("webhooks={shop={url=\"https://shop.example\",events=[\"paid\"]}}", "webhooks: events must be")]
    [InlineData(
        "webhooks={shop={url=\"https://shop.example\",payment_types=[\"VISAS\"]}}",
        "webhooks: payment_types may contain")]
    [InlineData("tokens={authority=\"http://login.example.com\"}", "tokens: authority must look like")]
    [InlineData("tokens={authority=\"https://login.example.com:8443\"}", "tokens: authority must look like")]
    [InlineData("tokens={issuer=\"it's\"}", "tokens: issuer and audience must be")]
    [InlineData("tokens={audience=\"\"}", "tokens: issuer and audience must be")]
    [InlineData("webhook_networks=[\"here\"]", "webhook_networks must be IPv4 networks")]
    [InlineData("tiers={proxy={count=0}}", "tiers: a count of 0")]
    [InlineData("tiers={proxy={count=31}}", "tiers: a count must be a whole number of at most 30")]
    [InlineData("tiers={proxy={count=1.5}}", "tiers: a count must be a whole number")]
    [InlineData("tiers={kafka={count=1}}", "tiers: kafka's count must be at least 3")]
    [InlineData("tiers={monitoring={count=2}}", "tiers: the count of monitoring")]
    [InlineData("tiers={postgres={count=4}}", "tiers: postgres's count must be at most 3")]
    [InlineData("tiers={proxies={count=3}}", "tiers may contain kafka, postgres, proxy")]
    [InlineData("tiers={proxy={instance_type=\"big\"}}", "tiers: an instance_type must look like t2.micro")]
    [InlineData("tiers={proxy={volume_gib=7}}", "tiers: a volume_gib must be a whole number of 8 to 16384")]
    [InlineData("tiers={proxy={volume_gib=8.5}}", "tiers: a volume_gib must be a whole number of 8 to 16384")]
    [InlineData("volume_gib=20000", "volume_gib must be a whole number of 8 to 16384")]
    [InlineData("instance_type=micro", "instance_type must look like t2.micro")]
    [InlineData("network_cidr=10.20.0.0/8", "network_cidr must be")]
    [InlineData("network_cidr=10.20.0.7/16", "network_cidr must be")]
    [InlineData("network_cidr=here", "network_cidr must be")]
    [InlineData("zones=[\"a\",\"b\"]", "zones must be three")]
    [InlineData("zones=[\"a\",\"b\",\"b\"]", "zones must be three")]
    [InlineData("kafka_bootstrap=broker", "kafka_bootstrap must be host:port")]
    [InlineData("postgres_own=false", "postgres_host must name the database")]
    [InlineData("postgres_port=70000", "postgres_port must be")]
    [InlineData("further_databases=[\"Two\"]", "further_databases must be names")]
    [InlineData("further_databases=[\"billing\"]", "further_databases must be names")]
    [InlineData("further_databases=[\"two\",\"two\"]", "further_databases must be at most nine different names")]
    [InlineData("partitions=-1", "partitions must be")]
    [InlineData("release=ftp://host/folder", "release must be")]
    [InlineData("release=https://host/it's", "release must be")]
    [InlineData("release_version=latest", "release_version must look like")]
    [InlineData("bootstrap_sha256=abc", "bootstrap_sha256 must be 64")]
    [InlineData("secrets=hunter2", "secrets must be ssm:/PATH")]
    public async Task An_invalid_variable_is_rejected_with_its_name(string variable, string message)
    {
        await using var copy = TerraformCopy.Make();

        var result = await copy.TryPlanAsync(Module, variable);

        Assert.NotEqual(0, result.ExitCode);
        Assert.Contains(message, result.Errors.ReplaceLineEndings(" "), StringComparison.Ordinal);
    }
}
