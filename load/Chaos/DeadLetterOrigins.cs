using Billing.LocalStack.Processes;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.DeadLetters;
using Confluent.Kafka;

namespace Billing.Chaos;

/// <summary>Looks for records in the dead letters by their origins, which their headers state.</summary>
public static class DeadLetterOrigins
{
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(500);

    /// <summary>Waits until records are in the dead letters.</summary>
    /// <param name="bootstrapServers">The brokers.</param>
    /// <param name="records">Where the records were sent to.</param>
    /// <param name="bound">The time limit.</param>
    /// <returns>Those that are not there after the time limit.</returns>
    public static async Task<IReadOnlyList<TopicPartitionOffset>> MissingAsync(
        string bootstrapServers, IReadOnlyCollection<TopicPartitionOffset> records, TimeSpan bound,
        CancellationToken cancellationToken)
    {
        return await Poll.LastAsync(
            async () =>
            {
                var found = await Task.Run(() => Origins(bootstrapServers), cancellationToken);
                return records.Where(record => !found.Contains(
                    (record.Topic, record.Partition.Value.ToString(), record.Offset.Value.ToString()))).ToList();
            },
            missing => missing.Count == 0, bound, PollInterval, cancellationToken);
    }

    private static HashSet<(string Topic, string Partition, string Offset)> Origins(string bootstrapServers)
    {
        using var archive = new DeadLetterArchive(new KafkaOptions { BootstrapServers = bootstrapServers });
        return [.. archive.Read().Select(letter => (letter.Topic, letter.Partition, letter.Offset))];
    }
}
