using Billing.Hosting;
using Confluent.Kafka;

namespace Billing.Messaging.Kafka.Clients;

/// <summary>Reads a topic up to the end that it has when it is asked for its ranges. It uses no consumer group,
/// so reading changes nothing on the brokers. Its methods block.</summary>
internal sealed class TopicArchive : IDisposable
{
    private readonly KafkaOptions _options;
    private readonly string _topic;
    private readonly IConsumer<byte[], byte[]> _consumer;
    private string? _lastError;

    /// <summary>Connects; nothing is read yet.</summary>
    /// <param name="options">The brokers.</param>
    /// <param name="topic">The topic.</param>
    /// <param name="name">The client's name, by which the brokers know it.</param>
    public TopicArchive(KafkaOptions options, string topic, string name)
    {
        (_options, _topic) = (options, topic);
        var config = options.Consumer(name, name);
        config.EnablePartitionEof = true;
        _consumer = KafkaClients.Consumer<byte[], byte[]>(config, e => _lastError = e.Reason);
    }

    /// <summary>Returns what each partition has at present.</summary>
    /// <param name="since">Leaves out what the brokers had before; nothing if null.</param>
    /// <exception cref="StartupException">No broker answers, or the topic does not exist.</exception>
    public List<OffsetRange> Ranges(DateTimeOffset? since = null) => Answered(() =>
    {
        using var admin = new DependentAdminClientBuilder(_consumer.Handle).Build();
        var topic = admin.GetMetadata(_topic, _options.StartTimeout).Topics
            .Find(t => t.Topic == _topic && !t.Error.IsError)
            ?? throw new StartupException(
                $"The brokers at '{_options.BootstrapServers}' have no topic {_topic}: no backend has run there.");
        var partitions = topic.Partitions.ConvertAll(p => new TopicPartition(_topic, p.PartitionId));
        var starts = since is not { } from ? [] : _consumer.OffsetsForTimes(
                partitions.Select(p => new TopicPartitionTimestamp(p, new Timestamp(from))), _options.StartTimeout)
            .ToDictionary(found => found.Partition.Value, found => found.Offset);
        return partitions.ConvertAll(partition =>
        {
            var ends = _consumer.QueryWatermarkOffsets(partition, _options.StartTimeout);
            var start = !starts.TryGetValue(partition.Partition.Value, out var found) ? ends.Low.Value
                // No record is as late.
                : found.IsSpecial ? ends.High.Value
                : found.Value;
            return new OffsetRange(
                partition.Partition.Value, start, ends.High.Value, start == ends.Low.Value && start > 0);
        });
    });

    /// <summary>Returns the records of ranges, those of one partition in ascending order of offsets.</summary>
    /// <exception cref="StartupException">The brokers do not answer any more.</exception>
    public IEnumerable<ConsumeResult<byte[], byte[]>> Read(IEnumerable<OffsetRange> ranges)
    {
        var open = ranges.Where(r => r.Start < r.End).ToDictionary(r => r.Partition);
        _consumer.Assign(open.Values.Select(r => new TopicPartitionOffset(_topic, r.Partition, r.Start)));
        while (open.Count > 0)
        {
            var record = Answered(() => _consumer.Consume(_options.StartTimeout))
                ?? throw new StartupException(
                    $"The brokers at '{_options.BootstrapServers}' stopped answering "
                    + $"({_lastError ?? "reason unknown"}).");
            if (!open.TryGetValue(record.Partition.Value, out var range))
            {
                continue;
            }
            if (record.IsPartitionEOF || record.Offset >= range.End - 1)
            {
                open.Remove(range.Partition);
            }
            if (!record.IsPartitionEOF && record.Offset < range.End)
            {
                yield return record;
            }
        }
        _consumer.Unassign();
    }

    /// <inheritdoc/>
    public void Dispose() => _consumer.Dispose();

    private T Answered<T>(Func<T> question)
    {
        try
        {
            return question();
        }
        catch (KafkaException e)
        {
            throw new StartupException(
                $"No broker answers at '{_options.BootstrapServers}' within {_options.StartTimeout.TotalSeconds:0.#} s "
                    + $"({_lastError ?? e.Error.Reason}).", e);
        }
    }
}

/// <summary>A range of offsets in one partition.</summary>
/// <param name="Partition">The partition.</param>
/// <param name="Start">The first offset.</param>
/// <param name="End">The offset after the last one.</param>
/// <param name="IsCut">Whether earlier records, which are deleted, may belong to it.</param>
internal sealed record OffsetRange(int Partition, long Start, long End, bool IsCut);
