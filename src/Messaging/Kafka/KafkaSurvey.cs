using Billing.Contracts;
using Billing.Messaging.Hosting;
using Confluent.Kafka;
using Confluent.Kafka.Admin;

namespace Billing.Messaging.Kafka;

/// <summary>Looks at the platform's groups and topics from outside: what waits on each partition, who owns it, and what was
/// put aside. It joins no group and commits nothing. One call at a time.</summary>
public sealed class KafkaSurvey : IDisposable
{
    private const int LettersShown = 8;

    private static readonly TimeSpan RequestTimeout = TimeSpan.FromSeconds(4);

    private static readonly IReadOnlyList<(string Group, IReadOnlyList<string> Topics)> Shares =
        [(Groups.Payments, Topics.AllPayments), (Groups.Balances, Topics.AllBalances)];

    private readonly KafkaOptions _options;
    private readonly IAdminClient _admin;
    private long _lettersEnd = -1;
    private IReadOnlyList<DeadLetter> _letters = [];
    private string? _lastError;

    /// <summary>Creates the survey; it connects with the first question.</summary>
    public KafkaSurvey(KafkaOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        _options = options;
        _admin = new AdminClientBuilder(options.Admin("billing-survey"))
            .SetErrorHandler((_, e) => _lastError = e.Reason).SetLogHandler((_, _) => { }).Build();
    }

    /// <summary>What the client last complained of; null where it has not.</summary>
    public string? LastError => _lastError;

    /// <summary>What is committed, and what there is, on every partition of the request topics.</summary>
    /// <exception cref="KafkaException">The brokers do not answer, or refuse.</exception>
    public async Task<IReadOnlyList<PartitionLag>> LagAsync()
    {
        var partitions = await PartitionsAsync(Topics.AllRequests);
        var ends = await OffsetsAsync(partitions, OffsetSpec.Latest());
        var committed = new Dictionary<TopicPartition, long>();
        foreach (var (group, _) in Shares)
        {
            foreach (var offset in await CommittedAsync(group))
            {
                committed[offset.TopicPartition] = offset.Offset.Value;
            }
        }
        // A group begins at the beginning where it has committed nothing.
        var untouched = partitions.Where(p => !committed.ContainsKey(p)).ToList();
        foreach (var (partition, start) in await OffsetsAsync(untouched, OffsetSpec.Earliest()))
        {
            committed[partition] = start;
        }
        return [.. partitions.Where(ends.ContainsKey)
            .Select(p => new PartitionLag(p.Topic, p.Partition.Value, Math.Max(0, ends[p] - committed.GetValueOrDefault(p))))];
    }

    /// <summary>The members of the platform's groups, and what each owns.</summary>
    /// <exception cref="KafkaException">The brokers do not answer, or refuse.</exception>
    public async Task<IReadOnlyList<GroupMember>> MembersAsync()
    {
        var described = await _admin.DescribeConsumerGroupsAsync(
            Shares.Select(share => share.Group), new DescribeConsumerGroupsOptions { RequestTimeout = RequestTimeout });
        return
        [
            .. from description in described.ConsumerGroupDescriptions
               from member in description.Members
               orderby description.GroupId descending, member.ConsumerId
               select new GroupMember(
                   description.GroupId, member.ConsumerId, member.Host.TrimStart('/'),
                   [.. (member.Assignment?.TopicPartitions ?? []).OrderBy(p => p.Topic, StringComparer.Ordinal).ThenBy(p => p.Partition.Value)]),
        ];
    }

    /// <summary>How many records were put aside, and the newest of them. These are read again only when there are more.
    /// </summary>
    /// <exception cref="KafkaException">The brokers do not answer, or refuse.</exception>
    /// <exception cref="StartupException">They stopped to answer.</exception>
    public async Task<PutAside> PutAsideAsync()
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
        return new PutAside(end - starts.Values.Sum(), _letters);
    }

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
        return [.. described.TopicDescriptions.SelectMany(t => t.Partitions.Select(p => new TopicPartition(t.Name, p.Partition)))];
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
            [new ConsumerGroupTopicPartitions(group, null)], new ListConsumerGroupOffsetsOptions { RequestTimeout = RequestTimeout });
        return results.SelectMany(result => result.Partitions).Where(p => p.Offset.Value >= 0);
    }
}

/// <summary>What waits on a partition.</summary>
/// <param name="Topic">The topic.</param>
/// <param name="Partition">The partition.</param>
/// <param name="Lag">Records that are not settled yet.</param>
public sealed record PartitionLag(string Topic, int Partition, long Lag);

/// <summary>A backend as its group knows it.</summary>
/// <param name="Group">The group.</param>
/// <param name="Id">What the group calls it; new with every start.</param>
/// <param name="Host">Where it calls from.</param>
/// <param name="Owns">The partitions that the group has given to it.</param>
public sealed record GroupMember(string Group, string Id, string Host, IReadOnlyList<TopicPartition> Owns);

/// <summary>Records that were put aside.</summary>
/// <param name="Count">How many there are.</param>
/// <param name="Newest">The newest of them, the newest first.</param>
public sealed record PutAside(long Count, IReadOnlyList<DeadLetter> Newest);
