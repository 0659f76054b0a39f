using Billing.Hosting;
using Billing.Messaging.Kafka.Clients;
using Confluent.Kafka;

namespace Billing.Messaging.Kafka.DeadLetters;

/// <summary>Reads the dead-letter topic up to the end that it had when the archive was opened. It uses no consumer group, so
/// reading changes nothing on the brokers. Its methods block.</summary>
public sealed class DeadLetterArchive : IDisposable
{
    private readonly KafkaOptions _options;
    private readonly IConsumer<byte[], byte[]> _consumer;
    private readonly List<Range> _ranges;
    private string? _lastError;

    /// <summary>Connects and queries the first and the end offset of each partition.</summary>
    /// <exception cref="StartupException">No broker answers, or the topic does not exist.</exception>
    public DeadLetterArchive(KafkaOptions options)
    {
        _options = options;
        var config = options.Consumer("billing-dead-letters", "billing-dead-letters");
        config.EnablePartitionEof = true;
        _consumer = KafkaClients.Consumer<byte[], byte[]>(config, e => _lastError = e.Reason);
        try
        {
            _ranges = Ranges();
        }
        catch (KafkaException e)
        {
            _consumer.Dispose();
            throw new StartupException(
                $"No broker answers at '{options.BootstrapServers}' within {options.StartTimeout.TotalSeconds:0.#} s ({_lastError ?? e.Error.Reason}).", e);
        }
        catch (StartupException)
        {
            _consumer.Dispose();
            throw;
        }
    }

    /// <summary>Number of dead letters.</summary>
    public long Count => _ranges.Sum(r => r.End - r.Start);

    /// <summary>Returns all dead letters, those of one partition in ascending order of offsets.</summary>
    public IEnumerable<DeadLetter> Read() => Read(_ranges);

    /// <summary>Returns the newest dead letters, the newest first.</summary>
    /// <param name="limit">The largest number to return.</param>
    public IReadOnlyList<DeadLetter> ReadNewest(int limit) =>
    [
        .. Read([.. _ranges.Select(r => r with { Start = Math.Max(r.Start, r.End - limit) })])
            .OrderByDescending(letter => letter.At).ThenByDescending(letter => letter.Id.Offset).Take(limit),
    ];

    /// <summary>Returns the dead letter with an id; null if there is none.</summary>
    public DeadLetter? Find(DeadLetterId id) =>
        _ranges.Find(r => r.Partition == id.Partition && r.Start <= id.Offset && id.Offset < r.End) is { } range
            ? Read([range with { Start = id.Offset, End = id.Offset + 1 }]).FirstOrDefault(letter => letter.Id == id)
            : null;

    /// <inheritdoc/>
    public void Dispose() => _consumer.Dispose();

    private IEnumerable<DeadLetter> Read(List<Range> ranges)
    {
        var open = ranges.Where(r => r.Start < r.End).ToDictionary(r => r.Partition, r => r.End);
        _consumer.Assign(ranges.Where(r => r.Start < r.End)
            .Select(r => new TopicPartitionOffset(Topics.DeadLetters, r.Partition, r.Start)));
        while (open.Count > 0)
        {
            var record = _consumer.Consume(_options.StartTimeout)
                ?? throw new StartupException($"The brokers at '{_options.BootstrapServers}' stopped answering ({_lastError ?? "reason unknown"}).");
            if (!open.TryGetValue(record.Partition.Value, out var end))
            {
                continue;
            }
            if (record.IsPartitionEOF || record.Offset >= end - 1)
            {
                open.Remove(record.Partition.Value);
            }
            if (!record.IsPartitionEOF && record.Offset < end)
            {
                yield return DeadLetter.Of(record);
            }
        }
        _consumer.Unassign();
    }

    private List<Range> Ranges()
    {
        using var admin = new DependentAdminClientBuilder(_consumer.Handle).Build();
        var topic = admin.GetMetadata(Topics.DeadLetters, _options.StartTimeout).Topics
            .Find(t => t.Topic == Topics.DeadLetters && !t.Error.IsError)
            ?? throw new StartupException($"The brokers at '{_options.BootstrapServers}' have no topic {Topics.DeadLetters}: no backend has run there.");
        return
        [
            .. from partition in topic.Partitions
               let ends = _consumer.QueryWatermarkOffsets(new TopicPartition(Topics.DeadLetters, partition.PartitionId), _options.StartTimeout)
               select new Range(partition.PartitionId, ends.Low.Value, ends.High.Value),
        ];
    }

    /// <summary>A range of offsets in one partition; the end is exclusive.</summary>
    private sealed record Range(int Partition, long Start, long End);
}
