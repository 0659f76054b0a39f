using System.Text.RegularExpressions;

namespace Billing.DeploymentTests;

/// <summary>deploy/containers/compose.yaml conforms to Compose's schema and to our rules, and each check detects its mistake.
/// </summary>
public sealed class ComposeChecks
{
    private static readonly string Text = File.ReadAllText(Path.Combine(Repository.Root, "deploy/containers/compose.yaml"));

    [Fact]
    public async Task The_file_follows_the_schema() => Assert.Empty(await AgainstTheSchemaAsync(Text));

    [Fact]
    public void The_file_follows_our_rules() => Assert.Empty(ComposeRules.Problems(ReleaseYaml.Read(Text)[0]));

    [Theory]
    [InlineData("    healthcheck:", "    healtcheck:", "healtcheck")]
    [InlineData("read_only: true", "read_only: 7", "read_only")]
    [InlineData(@"networks: \[kafka\]", "networks: 1", "networks")]
    [InlineData("condition: service_healthy", "condition: healthy", "condition")]
    public async Task The_schema_finds_a_planted_mistake(string there, string planted, string found) =>
        Assert.Contains(await AgainstTheSchemaAsync(Plant(there, planted)), problem => problem.Contains(found, StringComparison.Ordinal));

    [Theory]
    [InlineData("limits: { cpus: \"2\", memory: 1536M }", "limits: { cpus: \"2\" }", "balance-backend: no limit of memory")]
    [InlineData("    healthcheck:\n( {6}.*\n)+", "", "postgres: no health check")]
    [InlineData("POSTGRES_PASSWORD: .*", "POSTGRES_PASSWORD: secret", "POSTGRES_PASSWORD holds a password")]
    [InlineData(@"Password=\$\{.*", "Password=secret", "Billing__EventStore__ConnectionString holds a password")]
    [InlineData("image: billing-proxy:0.1.0", "image: billing-proxy:latest", "its image is of version 'latest'")]
    [InlineData("pull_policy: never", "pull_policy: always", "may have another owner")]
    [InlineData("read_only: true", "read_only: false", "it has more privileges than it needs")]
    [InlineData("Billing__Kafka__BootstrapServers", "Billing__Kafka__BootstrapServer", "no setting Billing__Kafka__BootstrapServer")]
    [InlineData("DrainTimeout: \"00:00:20\"", "DrainTimeout: \"00:00:40\"", "stop_grace_period")]
    [InlineData("0.0.0.0:5001", "0.0.0.0:5002", "port 5002 is not one of its tier's")]
    [InlineData("5000-5002:5000", "5000-5002:5001", "port 5001 is not one of its tier's")]
    [InlineData(@"networks: \[postgres\]", "networks: [clients, postgres]", "client and postgres share a network")]
    public void The_rules_find_a_planted_mistake(string there, string planted, string found) =>
        Assert.Contains(
            ComposeRules.Problems(ReleaseYaml.Read(Plant(there, planted))[0]),
            problem => problem.Contains(found, StringComparison.Ordinal));

    private static string Plant(string there, string planted)
    {
        var text = new Regex(there).Replace(Text, planted.Replace("$", "$$", StringComparison.Ordinal), 1);
        Assert.NotEqual(Text, text);
        return text;
    }

    private static async Task<IReadOnlyList<string>> AgainstTheSchemaAsync(string text) =>
        [.. (await ReleaseSchema.ReadAsync("deploy/containers/schema/compose.json")).Problems(ReleaseYaml.Read(text)[0])];
}
