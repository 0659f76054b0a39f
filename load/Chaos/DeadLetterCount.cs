using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.DeadLetters;

namespace Billing.Chaos;

/// <summary>Counts the records that were sent to the dead letters since a point in time. Each origin (topic, partition and
/// offset) counts once, because a record that is delivered again can be sent to the dead letters twice.</summary>
public sealed class DeadLetterCount
{
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(500);

    private readonly KafkaOptions _kafka;
    private readonly HashSet<(string Topic, string Partition, string Offset)> _before;

    private DeadLetterCount(KafkaOptions kafka)
    {
        _kafka = kafka;
        _before = Origins();
    }

    /// <summary>Starts the count.</summary>
    /// <param name="bootstrapServers">The brokers.</param>
    public static Task<DeadLetterCount> StartCountingAsync(string bootstrapServers) =>
        Task.Run(() => new DeadLetterCount(new KafkaOptions { BootstrapServers = bootstrapServers }));

    /// <summary>Waits until the expected number of records is in the dead letters.</summary>
    /// <param name="expected">The expected number.</param>
    /// <param name="bound">The time limit.</param>
    /// <param name="time">The clock.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>The number of records: at least the expected number, or fewer after the time limit.</returns>
    public async Task<int> CountAsync(int expected, TimeSpan bound, TimeProvider time, CancellationToken cancellationToken)
    {
        var start = time.GetTimestamp();
        while (true)
        {
            var count = await Task.Run(() => Origins().Except(_before).Count(), cancellationToken);
            if (count >= expected || time.GetElapsedTime(start) >= bound)
            {
                return count;
            }
            await Task.Delay(PollInterval, time, cancellationToken);
        }
    }

    private HashSet<(string Topic, string Partition, string Offset)> Origins()
    {
        using var archive = new DeadLetterArchive(_kafka);
        // Records that were written there by others have no origin.
        return [.. archive.Read().Where(letter => letter.Topic.Length > 0).Select(letter => (letter.Topic, letter.Partition, letter.Offset))];
    }
}
