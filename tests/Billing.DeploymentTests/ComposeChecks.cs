using System.Net;
using System.Security.Cryptography.X509Certificates;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Billing.Operator.Credentials;

namespace Billing.DeploymentTests;

/// <summary>deploy/containers/compose.yaml conforms to Compose's schema and to our rules, and each check
/// detects its mistake.</summary>
public sealed class ComposeChecks
{
    private static readonly string Text = Read("compose.yaml");
    private static readonly string Webhooks = Read("webhooks.yaml");

    [Fact]
    public async Task The_files_follow_the_schema() =>
        Assert.Empty((await AgainstTheSchemaAsync(Text)).Concat(await AgainstTheSchemaAsync(Webhooks)));

    [Fact]
    public void The_file_follows_our_rules() => Assert.Empty(ComposeRules.Problems(ReleaseYaml.Read(Text)[0]));

    [Fact]
    public void The_file_with_that_of_the_webhooks_follows_our_rules() =>
        Assert.Empty(ComposeRules.Problems(Both(Webhooks)));

    [Theory]
    [InlineData(
        "Receivers__shop__Url", "Receivers__shop__Address",
        "webhooks: there is no setting Billing__Webhooks__Receivers__shop__Address")]
    [InlineData(
        "webhooks: { file: ./credentials/webhooks }", "webhooks: { file: ./webhooks }",
        "the secret webhooks is no file of ./credentials")]
    [InlineData("receivers: {}", "outside: {}", "the network outside is not internal")]
    [InlineData(
        "networks: [kafka, postgres, receivers]", "networks: [kafka, callers]", "proxy-1 and webhooks share a network")]
    public void The_rules_find_a_planted_mistake_of_the_webhooks(string there, string planted, string found)
    {
        Assert.Contains(there, Webhooks, StringComparison.Ordinal);

        Assert.Contains(
            ComposeRules.Problems(Both(Webhooks.Replace(there, planted, StringComparison.Ordinal))),
            problem => problem.Contains(found, StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("    healthcheck:", "    healtcheck:", "healtcheck")]
    [InlineData("read_only: true", "read_only: 7", "read_only")]
    [InlineData(@"networks: \[kafka\]", "networks: 1", "networks")]
    [InlineData("internal: true", "internal: yes", "internal")]
    public async Task The_schema_finds_a_planted_mistake(string there, string planted, string found) =>
        Assert.Contains(
            await AgainstTheSchemaAsync(Plant(there, planted)),
            problem => problem.Contains(found, StringComparison.Ordinal));

    [Theory]
    [InlineData(
        "limits: { cpus: \"2\", memory: 1536M }", "limits: { cpus: \"2\" }", "balance-backend: no limit of memory")]
    [InlineData("    healthcheck:\n( {6}.*\n)+", "", "postgres: no health check")]
    [InlineData(
        "  networks: \\[callers", "  depends_on: [topics]\n  networks: [callers",
        "proxy-1: it depends on another's start")]
    [InlineData("sasl.username: proxy-1", "sasl.password: secret", "sasl.password holds a password")]
    [InlineData("sasl.username: proxy-3", "sasl.username: proxy-2", "proxy-3: Billing__Kafka__Properties__sasl.user")]
    [InlineData("ProxyName: proxy-2", "ProxyName: proxy", "proxy-2: Billing__Kafka__ProxyName is not its name")]
    [InlineData(
        "source: kafka-proxy-2, target: Billing", "source: kafka-proxy-1, target: Billing",
        "proxy-2: its password at the brokers is not its own")]
    [InlineData(
        "Billing__Backend__Role: Payments", "Billing__EventStore__ConnectionString: Host=postgres;Password=secret",
        "ConnectionString holds a password")]
    [InlineData("file: ./credentials/postgres", "file: ./postgres", "the secret postgres is no file of ./credentials")]
    [InlineData("  postgres: { file: .*\n", "", "the secret postgres is no file of ./credentials")]
    [InlineData("      - jwks.json\n", "", "proxy-1: Billing__Auth__JwksFile is none of its secrets")]
    [InlineData(
        "  Urls: https", "  Billing__Insecure: true\n  Urls: https",
        "Billing__Insecure lets everybody do everything")]
    [InlineData("  Urls: https", "  Urls: http", "proxy-1: Urls has no TLS")]
    [InlineData("Rest__Url: https", "Rest__Url: http", "proxy-2: Billing__Rest__Url has no TLS")]
    [InlineData("Admin__Url: https", "Admin__Url: http", "proxy-3: Billing__Admin__Url has no TLS")]
    [InlineData("  Billing__Admin__Url: .*\n", "", "Billing__Admin__Url is missing")]
    [InlineData("  Billing__Tls__CertificateFile: .*\n", "", "Billing__Tls__CertificateFile is missing")]
    [InlineData("  Billing__Auth__JwksFile: .*\n", "", "Billing__Auth__JwksFile is missing")]
    [InlineData("Auth__Issuer: billing", "Auth__Issuer: other", "Billing__Auth__Issuer is missing, or not billing")]
    [InlineData("  Billing__Auth__Audience: .*\n", "", "Billing__Auth__Audience is missing")]
    [InlineData("127.0.0.1:5091:5090", "5091:5090", "proxy-2: the admin address is published at 0.0.0.0:5091")]
    [InlineData("0.0.0.0:5090", "0.0.0.0:5080", "proxy-1: the admin address is also one for callers")]
    [InlineData("\"5081:5080\"", "\"5080:5080\"", "port 5080 of this machine is published twice")]
    [InlineData("kafka: { internal: true }", "kafka: {}", "the network kafka is not internal")]
    [InlineData("image: billing-proxy:1.0.0", "image: billing-proxy:latest", "its image is of version 'latest'")]
    [InlineData("pull_policy: never", "pull_policy: always", "may have another owner")]
    [InlineData("read_only: true", "read_only: false", "it has more privileges than it needs")]
    [InlineData(
        "Billing__Kafka__BootstrapServers", "Billing__Kafka__BootstrapServer",
        "no setting Billing__Kafka__BootstrapServer")]
    [InlineData("DrainTimeout: \"00:00:20\"", "DrainTimeout: \"00:00:50\"", "stop_grace_period")]
    [InlineData("0.0.0.0:5001", "0.0.0.0:5002", "port 5002 is not one of its tier's")]
    [InlineData("5000:5000", "5000:5001", "port 5001 is not one of its tier's")]
    [InlineData(
        @"networks: \[callers, kafka\]", "networks: [callers, postgres]", "postgres and proxy-1 share a network")]
    [InlineData("BILLING_ZONE", "BILLING_ZOME", "no setting BILLING_ZOME")]
    public void The_rules_find_a_planted_mistake(string there, string planted, string found) =>
        Assert.Contains(
            ComposeRules.Problems(ReleaseYaml.Read(Plant(there, planted))[0]),
            problem => problem.Contains(found, StringComparison.Ordinal));

    [Fact]
    public void The_credentials_command_makes_the_files_that_it_names_and_keeps_what_is_in_use()
    {
        var folder = Directory.CreateTempSubdirectory("billing-credentials-").FullName;
        string[] named =
        [
            .. Both(Webhooks).Entries("secrets").Select(secret => secret.Value.Text("file")!.Split('/')[^1]),
        ];
        string[] renewed = ["ca.pem", "proxy.pem"];

        var first = Create();
        var second = Create();
        using var certificate = X509Certificate2.CreateFromPem(second["proxy.pem"]);
        var alternatives = certificate.Extensions.OfType<X509SubjectAlternativeNameExtension>().Single();
        Directory.Delete(folder, recursive: true);

        Assert.Equal(
            named.Concat(["ca.pem", "tokens.pem"]).Order(StringComparer.Ordinal),
            first.Keys.Order(StringComparer.Ordinal));
        Assert.All(first, file => Assert.Equal(!renewed.Contains(file.Key), file.Value == second[file.Key]));
        Assert.Equal(["localhost", "billing.example"], alternatives.EnumerateDnsNames());
        Assert.Contains(IPAddress.Parse("192.0.2.7"), alternatives.EnumerateIPAddresses());

        Dictionary<string, string> Create()
        {
            DeploymentCredentials.CreateIn(
                folder, ["billing.example", "192.0.2.7"], TimeSpan.FromDays(1), TimeProvider.System);
            return Directory.EnumerateFiles(folder).ToDictionary(file => Path.GetFileName(file), File.ReadAllText);
        }
    }

    private static string Read(string file) =>
        File.ReadAllText(Path.Combine(Repository.Root, "deploy/containers", file));

    // As Compose merges two files that have no service in common.
    private static JsonObject Both(string webhooks)
    {
        var both = ReleaseYaml.Read(Text)[0];
        foreach (var (section, entries) in ReleaseYaml.Read(webhooks)[0])
        {
            foreach (var (name, entry) in entries!.AsObject())
            {
                both[section]![name] = entry!.DeepClone();
            }
        }
        return both;
    }

    private static string Plant(string there, string planted)
    {
        var text = new Regex(there).Replace(Text, planted.Replace("$", "$$", StringComparison.Ordinal), 1);
        Assert.NotEqual(Text, text);
        return text;
    }

    private static async Task<IReadOnlyList<string>> AgainstTheSchemaAsync(string text) =>
        [
            .. (await ReleaseSchema.ReadAsync("deploy/containers/schema/compose.json"))
                .Problems(ReleaseYaml.Read(text)[0]),
        ];
}
