using Billing.Messaging.Kafka;

namespace Billing.Chaos;

/// <summary>Counts the records that became dead letters since a moment, each by where it came from: one that was delivered
/// again may have been put aside twice.</summary>
public sealed class PutAside
{
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(500);

    private readonly KafkaOptions _kafka;
    private readonly HashSet<(string Topic, string Partition, string Offset)> _before;

    private PutAside(KafkaOptions kafka)
    {
        _kafka = kafka;
        _before = Origins();
    }

    /// <summary>Fixes the moment.</summary>
    /// <param name="bootstrapServers">The brokers.</param>
    public static Task<PutAside> FromNowOnAsync(string bootstrapServers) =>
        Task.Run(() => new PutAside(new KafkaOptions { BootstrapServers = bootstrapServers }));

    /// <summary>Waits until so many records were put aside.</summary>
    /// <param name="expected">How many.</param>
    /// <param name="bound">How long they may take to come.</param>
    /// <param name="time">The clock.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <returns>How many there are: at least as many as expected, or fewer when the bound has passed.</returns>
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
        // What somebody else has written there has no origin.
        return [.. archive.Read().Where(letter => letter.Topic.Length > 0).Select(letter => (letter.Topic, letter.Partition, letter.Offset))];
    }
}
