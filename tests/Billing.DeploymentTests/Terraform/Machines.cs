using System.Text.Json;

namespace Billing.DeploymentTests.Terraform;

/// <summary>The machines, and their rights on AWS.</summary>
public sealed class Machines
{
    private const string Release = "billing-release-123456789012-us-east-1/*";
    private const string Backup = "billing-backup-123456789012-us-east-1";

    private static readonly string[] Secret =
        [
            "random_password", "aws_ssm_parameter",
            "aws_secretsmanager_secret_version", "aws_key_pair", "tls_private_key",
        ];

    [Fact]
    public async Task Volumes_are_encrypted_and_credentials_are_kept_from_plain_requests()
    {
        await using var copy = await TerraformCopy.MakeWithProviderAsync();

        var plan = await copy.PlanAsync("");

        Assert.Equal(18, plan.OfType("aws_instance").Count());
        Assert.Empty(Careless(plan));
    }

    [Theory]
    [InlineData("modules/host/main.tf", "encrypted             = true", "encrypted             = false", "volume")]
    [InlineData("modules/host/main.tf", "\"required\"", "\"optional\"", "metadata")]
    [InlineData(
        "modules/host/main.tf", "  user_data_replace_on_change = false",
        "  key_name                    = \"operator\"", "key")]
    [InlineData(
        "modules/host/main.tf", "= var.user_data\n", "= \"#!/bin/sh\\nexport PGPASSWORD=hunter2\\n\"\n", "secret")]
    [InlineData(
        "main.tf", "module \"access\"",
        "resource \"aws_db_instance\" \"other\" {\n  instance_class = \"db.t4g.micro\"\n  password = "
            + "\"hunter2\"\n}\n\nmodule \"access\"",
        "password")]
    public async Task An_insecure_machine_is_found(string file, string old, string mistake, string finding)
    {
        await using var copy = await TerraformCopy.MakeWithProviderAsync();

        var found = Careless(await copy.Plant(file, old, mistake).PlanAsync(""));

        Assert.Contains(found, careless => careless.EndsWith(finding, StringComparison.Ordinal));
    }

    [Fact]
    public void Terraform_creates_no_secret_and_so_stores_none() =>
        Assert.DoesNotContain(
            Repository.Files("deploy/terraform", "*.tf").SelectMany(Repository.Lines),
            line => Secret.Any(type => line.StartsWith($"resource \"{type}\"", StringComparison.Ordinal)));

    [Fact]
    public async Task Each_tier_and_each_proxy_reads_its_own_secrets_and_the_release()
    {
        await using var copy = await TerraformCopy.MakeWithProviderAsync();

        Assert.Equal(
            [
                $"balance-backend reads {Release} parameter/billing/kafka/balance-backend "
                    + "parameter/billing/postgres/backend parameter/billing/tls/ca",
                $"client reads {Release} parameter/billing/tls/ca",
                $"kafka reads {Release} parameter/billing/kafka/* parameter/billing/tls/kafka "
                    + "parameter/billing/tls/ca parameter/billing/tls/etcd",
                $"monitoring reads {Release} parameter/billing/kafka/operator parameter/billing/postgres/audit "
                    + "parameter/billing/tls/ca",
                $"payment-backend reads {Release} parameter/billing/kafka/payment-backend "
                    + "parameter/billing/postgres/backend parameter/billing/tls/ca",
                $"postgres reads {Backup} {Backup}/* {Release} parameter/billing/postgres/* "
                    + "parameter/billing/tls/postgres parameter/billing/tls/ca",
                $"proxy-1 reads {Release} parameter/billing/kafka/proxy-1 parameter/billing/tls/ca "
                    + "parameter/billing/tls/proxy parameter/billing/tokens/jwks",
                $"proxy-2 reads {Release} parameter/billing/kafka/proxy-2 parameter/billing/tls/ca "
                    + "parameter/billing/tls/proxy parameter/billing/tokens/jwks",
                $"proxy-3 reads {Release} parameter/billing/kafka/proxy-3 parameter/billing/tls/ca "
                    + "parameter/billing/tls/proxy parameter/billing/tokens/jwks",
                $"webhooks reads {Release} parameter/billing/kafka/webhooks parameter/billing/postgres/webhooks "
                    + "parameter/billing/webhooks/* parameter/billing/tls/ca",
            ],
            Readers(await copy.PlanAsync("", TopologyModule.Webhooks)));
    }

    [Fact]
    public async Task The_machines_read_exactly_the_secrets_that_the_script_creates_but_for_the_keys_that_sign()
    {
        await using var copy = await TerraformCopy.MakeWithProviderAsync();
        var listed = (await ExternalTool.RunAsync(ExternalTool.Need("bash"), ["deploy/terraform/secrets.sh", "--list"]))
            .Succeeded().Output.Split('\n', StringSplitOptions.RemoveEmptyEntries).ToList();
        Assert.True(listed.Remove("/billing/tls/ca-key") && listed.Remove("/billing/tokens/key"));

        var asked = Readers(await copy.PlanAsync("", TopologyModule.Webhooks))
            .SelectMany(reader => reader.Split(" parameter").Skip(1)).Distinct().ToList();

        Assert.All(asked.Where(secret => !secret.EndsWith('*')), secret => Assert.Contains(secret, listed));
        Assert.All(listed, secret => Assert.Contains(
            asked,
            name => name == secret || (name.EndsWith('*') && secret.StartsWith(name[..^1], StringComparison.Ordinal))));
    }

    [Theory]
    [InlineData(
        "    client          = [\"tls/ca\"]", "    client          = [\"*\"]",
        "client reads billing-release-123456789012-us-east-1/* parameter/billing/*")]
    [InlineData(
        "      \"ssm:UpdateInstanceInformation\",", "      \"ssm:GetParameters\",",
        "client reads * billing-release-123456789012-us-east-1/* parameter/billing/tls/ca")]
    [InlineData(
        "      \"ssm:UpdateInstanceInformation\",", "      \"ssm:*\",",
        "client reads * billing-release-123456789012-us-east-1/* parameter/billing/tls/ca")]
    public async Task A_tier_that_reads_too_much_is_found(string old, string mistake, string finding)
    {
        await using var copy = await TerraformCopy.MakeWithProviderAsync();

        var found = Readers(await copy.Plant("modules/access/main.tf", old, mistake).PlanAsync(""));

        Assert.Contains(finding, found);
    }

    [Fact]
    public async Task With_existing_servers_machines_read_their_authorities_and_only_callers_of_proxies_the_platforms()
    {
        await using var copy = await TerraformCopy.MakeWithProviderAsync();

        var readers = Readers(await copy.PlanAsync(
            "", "postgres=rds", "kafka_bootstrap=k1.example.com:9096", "kafka_networks=[\"10.9.0.0/16\"]"));

        Assert.Equal(
            [
                "balance-backend kafka-ca postgres-ca", "client ca", "monitoring ca kafka-ca postgres-ca",
                "payment-backend kafka-ca postgres-ca",
                "proxy-1 kafka-ca proxy tokens/jwks", "proxy-2 kafka-ca proxy tokens/jwks",
                "proxy-3 kafka-ca proxy tokens/jwks",
            ],
            from reader in readers
            let authorities = reader.Split(" parameter/billing/tls/").Skip(1).ToList()
            where authorities.Count > 0
            select reader.Split(' ')[0] + " "
                + string.Join(' ', authorities).Replace("parameter/billing/", "", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("HTTPS", "false", "tls/proxy tokens/jwks", "insecure=false")]
    [InlineData("HTTPS", "false", "tls/proxy", "tokens={authority=\"https://login.example.com/tenant\"}")]
    [InlineData("HTTP", "true", "", "insecure=true")]
    public async Task Proxies_have_TLS_and_tokens_and_are_checked_so_unless_a_variable_says_otherwise(
        string check, string insecure, string secrets, string variable)
    {
        await using var copy = await TerraformCopy.MakeWithProviderAsync();

        var plan = await copy.PlanAsync("", variable);

        var group = Assert.Single(plan.OfType("aws_lb_target_group"));
        var health = group.Values.GetProperty("health_check")[0];
        Assert.Equal(
            (check, "5080", "TCP", "TCP"),
            (health.GetProperty("protocol").GetString(), health.GetProperty("port").GetString(),
                group.Text("protocol"), Assert.Single(plan.OfType("aws_lb_listener")).Text("protocol")));
        Assert.All(
            plan.OfType("aws_instance"),
            machine => Assert.Contains(
                $"\nBILLING_INSECURE='{insecure}'\n", machine.Text("user_data"), StringComparison.Ordinal));
        Assert.Equal(
            secrets,
            string.Join(' ', Readers(plan).Single(reader => reader.StartsWith("proxy-1 ", StringComparison.Ordinal))
                .Split(" parameter/billing/").Where(name => name is "tls/proxy" or "tokens/jwks")));
    }

    [Fact]
    public async Task With_existing_brokers_the_three_proxies_on_which_etcd_runs_have_its_certificate_and_no_others()
    {
        await using var copy = await TerraformCopy.MakeWithProviderAsync();

        var readers = Readers(await copy.PlanAsync(
            "", "kafka_bootstrap=k1.example.com:9096", "kafka_networks=[\"10.9.0.0/16\"]", "tiers={proxy={count=4}}"));

        Assert.Equal(
            ["proxy-1 etcd ca", "proxy-2 etcd ca", "proxy-3 etcd ca", "proxy-4"],
            from reader in readers
            where reader.StartsWith("proxy-", StringComparison.Ordinal)
            let secrets = reader.Split(" parameter/billing/")
            select string.Join(' ', secrets.Where(name => name is "tls/etcd" or "tls/ca")
                .Select(name => name["tls/".Length..]).Prepend(reader.Split(' ')[0])));
    }

    [Fact]
    public async Task Each_machine_has_the_role_of_its_tier_and_each_proxy_its_own()
    {
        await using var copy = await TerraformCopy.MakeWithProviderAsync();

        var plan = await copy.PlanAsync("", "tiers={proxy={count=4}}");

        Assert.All(
            plan.OfType("aws_instance"),
            machine => Assert.Equal(
                $"{(Tag(machine, "Tier") == "proxy" ? Tag(machine, "Name") : "billing-" + Tag(machine, "Tier"))}"
                    + "-us-east-1",
                machine.Text("iam_instance_profile")));

        static string Tag(PlannedResource machine, string name) =>
            machine.Values.GetProperty("tags").GetProperty(name).GetString()!;
    }

    [Theory]
    [InlineData(18, "instance_type=t3.micro")]
    [InlineData(16, "postgres=rds")]
    [InlineData(16, "postgres=existing", "postgres_host=db.example.com", "postgres_networks=[\"10.9.0.0/16\"]")]
    [InlineData(15, "kafka_bootstrap=k1.example.com:9096", "kafka_networks=[\"10.9.0.0/16\"]")]
    [InlineData(21, "tiers={proxy={count=6}}", "release=https://releases.example.com/billing")]
    [InlineData(20, TopologyModule.Webhooks)]
    [InlineData(
        18, "tiers={kafka={instance_type=\"t4g.small\"}}", "region=eu-central-1", "load_balancer_internal=false")]
    public async Task Variables_determine_the_number_of_machines(int machines, params string[] variables)
    {
        await using var copy = await TerraformCopy.MakeWithProviderAsync();

        Assert.Equal(machines, (await copy.PlanAsync("", variables)).OfType("aws_instance").Count());
    }

    [Fact]
    public async Task Each_machine_gets_a_volume_of_its_tiers_size()
    {
        await using var copy = await TerraformCopy.MakeWithProviderAsync();

        var sizes = (await copy.PlanAsync("", "volume_gib=12", "tiers={proxy={volume_gib=9}}")).OfType("aws_instance")
            .ToLookup(
                machine => machine.Values.GetProperty("tags").GetProperty("Tier").GetString()!,
                machine => machine.Values.GetProperty("root_block_device")[0].GetProperty("volume_size").GetInt32());

        Assert.Equal([30, 30, 30], sizes["kafka"]);
        Assert.Equal([100, 100], sizes["postgres"]);
        Assert.Equal([9, 9, 9], sizes["proxy"]);
        Assert.Equal([12], sizes["monitoring"]);
    }

    [Fact]
    public async Task An_instance_type_that_the_release_has_no_programs_for_is_rejected()
    {
        await using var copy = await TerraformCopy.MakeWithProviderAsync();

        var result = await copy.TryPlanAsync("", "tiers={proxy={instance_type=\"c7gn.large\"}}");

        Assert.NotEqual(0, result.ExitCode);
        Assert.Contains(
            "proxy needs an x86 instance type", result.Errors.ReplaceLineEndings(" "), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_folder_without_the_release_is_rejected()
    {
        await using var copy = await TerraformCopy.MakeWithProviderAsync();
        File.Delete(Path.Combine(copy.ReleaseFolder, "billing-bootstrap-1.0.0.tar.gz"));

        var result = await copy.TryPlanAsync("");

        Assert.NotEqual(0, result.ExitCode);
        Assert.Contains(
            "./billing package", result.Errors.ReplaceLineEndings(" "), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("0.3673 USD per hour", "name=billing")]
    [InlineData("unknown: no price for x9.huge", "instance_type=x9.huge")]
    public async Task The_plan_contains_the_cost(string cost, string variable)
    {
        await using var copy = await TerraformCopy.MakeWithProviderAsync();

        Assert.StartsWith(
            cost, (await copy.PlanAsync("", variable)).Output("cost").GetString(), StringComparison.Ordinal);
    }

    private static List<string> Careless(TerraformPlan plan) =>
    [
        .. from machine in plan.OfType("aws_instance")
           from careless in new[]
           {
               machine.Values.GetProperty("root_block_device")[0].GetProperty("encrypted").ValueKind
                   == JsonValueKind.True ? "" : "volume",
               machine.Values.GetProperty("metadata_options")[0].GetProperty("http_tokens").GetString() == "required"
                   ? ""
                   : "metadata",
               machine.Text("key_name").Length == 0 ? "" : "key",
               Secrecy.Find(machine.Text("user_data")).Count == 0 ? "" : "secret",
           }
           where careless.Length > 0
           select $"{machine.Address}: {careless}",
        .. plan.Resources.Where(resource => resource.Text("password").Length > 0)
            .Select(resource => $"{resource.Address}: password"),
    ];

    /// <summary>Returns the parameters and buckets that each tier may read.</summary>
    private static List<string> Readers(TerraformPlan plan)
    {
        Assert.Empty(plan.OfType("aws_iam_role_policy_attachment"));
        return
        [
            .. plan.OfType("aws_iam_role_policy")
                .Select(policy => $"{policy.Key} reads {string.Join(' ', Read(policy.Text("policy")))}")
                .Order(StringComparer.Ordinal),
        ];
    }

    private static IEnumerable<string> Read(string policy) =>
        from statement in JsonDocument.Parse(policy).RootElement.GetProperty("Statement").EnumerateArray()
        where statement.GetProperty("Action").EnumerateArray().Any(action => Reads(action.GetString()!))
        from resource in statement.GetProperty("Resource").EnumerateArray()
        select resource.GetString()!.Split(':').Last();

    private static bool Reads(string action) =>
        action is "*" or "ssm:*" || action.StartsWith("s3:", StringComparison.Ordinal)
        || action.StartsWith("ssm:Get", StringComparison.Ordinal);
}
