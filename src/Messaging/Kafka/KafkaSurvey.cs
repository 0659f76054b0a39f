using Billing.Hosting;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.DeadLetters;
using Confluent.Kafka;
using Confluent.Kafka.Admin;

namespace Billing.Messaging.Kafka;

/// <summary>Queries the state of the platform's groups and topics: the lag and the owner of each partition, and the
/// dead letters. It joins no group and commits nothing. Not thread-safe.</summary>
public sealed class KafkaSurvey : IDisposable
{
    private const int LettersShown = 8;

    private static readonly TimeSpan RequestTimeout = TimeSpan.FromSeconds(4);

    private static readonly string[] BackendGroups = [Groups.Payments, Groups.Balances];

    private readonly KafkaOptions _options;
    private readonly IAdminClient _admin;
    private long _lettersEnd = -1;
    private IReadOnlyList<DeadLetter> _letters = [];
    private string? _lastError;

    /// <summary>Creates the survey; it connects with the first query.</summary>
    public KafkaSurvey(KafkaOptions options)
    {
        _options = options;
        _admin = KafkaClients.Admin(options.Admin("billing-survey"), e => _lastError = e.Reason);
    }

    /// <summary>The last error that the client reported; null if there was none.</summary>
    public string? LastError => _lastError;

    /// <summary>Returns the lag of every partition of the request topics: the end offset minus the
    /// committed offset.</summary>
    /// <exception cref="KafkaException">The brokers do not answer, or refuse the request.</exception>
    public async Task<IReadOnlyList<PartitionLag>> LagAsync()
    {
        var partitions = await PartitionsAsync(Topics.AllRequests);
        var ends = await OffsetsAsync(partitions, OffsetSpec.Latest());
        // Without a committed offset, or with one past the end, a group starts at the beginning of a partition.
        var next = await OffsetsAsync(partitions, OffsetSpec.Earliest());
        foreach (var committed in (await Task.WhenAll(BackendGroups.Select(CommittedAsync)))
            .SelectMany(offsets => offsets)
            .Where(committed => committed.Offset.Value <= ends.GetValueOrDefault(committed.TopicPartition)))
        {
            next[committed.TopicPartition] = committed.Offset.Value;
        }
        return [.. partitions.Where(ends.ContainsKey)
            .Select(
                p => new PartitionLag(p.Topic, p.Partition.Value, Math.Max(0, ends[p] - next.GetValueOrDefault(p))))];
    }

    /// <summary>Returns the members of the platform's groups with their partitions.</summary>
    /// <exception cref="KafkaException">The brokers do not answer, or refuse the request.</exception>
    public async Task<IReadOnlyList<GroupMember>> MembersAsync()
    {
        var described = await _admin.DescribeConsumerGroupsAsync(
            BackendGroups, new DescribeConsumerGroupsOptions { RequestTimeout = RequestTimeout });
        return
        [
            .. from description in described.ConsumerGroupDescriptions
               from member in description.Members
               orderby description.GroupId descending, member.ConsumerId
               select new GroupMember(
                   description.GroupId, member.ConsumerId, member.Host.TrimStart('/'),
                   [.. (member.Assignment?.TopicPartitions
                       ?? []).OrderBy(p => p.Topic, StringComparer.Ordinal).ThenBy(p => p.Partition.Value)]),
        ];
    }

    /// <summary>Returns the number of dead letters and the newest of them, which are read again only if
    /// there are new ones.</summary>
    /// <exception cref="KafkaException">The brokers do not answer, or refuse the request.</exception>
    /// <exception cref="StartupException">The brokers stopped answering.</exception>
    public async Task<DeadLetterSummary> DeadLettersAsync()
    {
        var partitions = await PartitionsAsync([Topics.DeadLetters]);
        var ends = await OffsetsAsync(partitions, OffsetSpec.Latest());
        var starts = await OffsetsAsync(partitions, OffsetSpec.Earliest());
        var end = ends.Values.Sum();
        if (end != _lettersEnd)
        {
            _letters = end == 0 ? [] : await Task.Run(ReadLetters);
            _lettersEnd = end;
        }
        return new DeadLetterSummary(end - starts.Values.Sum(), _letters);
    }

    /// <summary>Returns the number of brokers.</summary>
    /// <exception cref="KafkaException">The brokers do not answer.</exception>
    public async Task<int> BrokersAsync() =>
        (await _admin.DescribeClusterAsync(new DescribeClusterOptions { RequestTimeout = RequestTimeout })).Nodes.Count;

    /// <inheritdoc/>
    public void Dispose() => _admin.Dispose();

    private IReadOnlyList<DeadLetter> ReadLetters()
    {
        using var archive = new DeadLetterArchive(_options);
        return archive.ReadNewest(LettersShown);
    }

    private async Task<List<TopicPartition>> PartitionsAsync(IReadOnlyList<string> topics)
    {
        var described = await _admin.DescribeTopicsAsync(
            TopicCollection.OfTopicNames(topics), new DescribeTopicsOptions { RequestTimeout = RequestTimeout });
        return
        [
            .. described.TopicDescriptions.SelectMany(
                t => t.Partitions.Select(p => new TopicPartition(t.Name, p.Partition))),
        ];
    }

    private async Task<Dictionary<TopicPartition, long>> OffsetsAsync(List<TopicPartition> partitions, OffsetSpec spec)
    {
        if (partitions.Count == 0)
        {
            return [];
        }
        var listed = await _admin.ListOffsetsAsync(
            partitions.Select(p => new TopicPartitionOffsetSpec { TopicPartition = p, OffsetSpec = spec }),
            new ListOffsetsOptions { RequestTimeout = RequestTimeout });
        return listed.ResultInfos.Select(info => info.TopicPartitionOffsetError)
            .ToDictionary(found => found.TopicPartition, found => found.Offset.Value);
    }

    private async Task<IEnumerable<TopicPartitionOffsetError>> CommittedAsync(string group)
    {
        var results = await _admin.ListConsumerGroupOffsetsAsync(
            [new ConsumerGroupTopicPartitions(group, null)],
            new ListConsumerGroupOffsetsOptions { RequestTimeout = RequestTimeout });
        return results.SelectMany(result => result.Partitions).Where(p => p.Offset.Value >= 0);
    }
}

/// <summary>The lag of a partition: the number of records from the committed offset to the end.</summary>
public sealed record PartitionLag(string Topic, int Partition, long Lag);

/// <summary>A backend as a member of its consumer group, with a member id that is new with every start, the host that
/// it is connected from, and the partitions that are assigned to it.</summary>
public sealed record GroupMember(string Group, string Id, string Host, IReadOnlyList<TopicPartition> Owns);

/// <summary>The number of records in the dead-letter topic, and the newest of them, the newest first.</summary>
public sealed record DeadLetterSummary(long Count, IReadOnlyList<DeadLetter> Newest);
