using Billing.LocalStack.Kafka;
using Billing.LocalStack.Processes;

namespace Billing.IntegrationTests.Services;

/// <summary>Commands that need their own Kafka, on a machine without Kafka.</summary>
public sealed class WithoutKafka : IAsyncLifetime
{
    private readonly StackFolder _folder = StackFolder.Create();

    public ValueTask InitializeAsync() => ValueTask.CompletedTask;

    public ValueTask DisposeAsync() => _folder.DisposeAsync();

    [Theory]
    [InlineData("chaos", "chaos injects faults into brokers of its own, but Kafka or Java is not installed")]
    [InlineData(
        "chaos --postgres Host=elsewhere",
        "chaos injects faults into brokers and a PostgreSQL of its own: leave --kafka and --postgres out")]
    [InlineData(
        "chaos --kafka elsewhere:9092",
        "chaos injects faults into brokers and a PostgreSQL of its own: leave --kafka and --postgres out")]
    [InlineData("compare paper", "compare paper measures the path through Kafka, but Kafka or Java is not installed")]
    [InlineData("compare eda", "compare eda measures the path through Kafka, but Kafka or Java is not installed")]
    [InlineData(
        "compare ceiling", "compare ceiling measures the path through Kafka, but Kafka or Java is not installed")]
    public async Task The_commands_are_rejected_with_one_line(string command, string refusal)
    {
        var (exitCode, output) = await CommandRun.ToEndAsync(
            _folder, command.Split(' '),
            new Dictionary<string, string?>
            {
                [KafkaPrograms.HomeVariable] = null,
                ["KAFKA_HOME"] = null,
                ["BILLING_CACHE"] = null,
                ["XDG_CACHE_HOME"] = null,
                ["HOME"] = _folder.FullName,
            });

        Assert.Equal(1, exitCode);
        Assert.Contains(refusal, output, StringComparison.Ordinal);
        Assert.Single(output.Split('\n', StringSplitOptions.RemoveEmptyEntries));
    }
}
