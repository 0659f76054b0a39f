using Billing.Hosting;
using Billing.LocalStack.Processes;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using Confluent.Kafka;
using Confluent.Kafka.Admin;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;

namespace Billing.Chaos.Faults;

/// <summary>The faults of a topic of payments and of the group that reads it, made by mistake or of necessity.
/// Brokers may be away meanwhile: what fails is tried again.</summary>
internal sealed class TopicFaults(string bootstrapServers, TimeProvider time)
{
    // More records than there are in a soak.
    private const long PastTheEnd = 1_000_000_000;

    private static readonly TimeSpan RetryInterval = TimeSpan.FromMilliseconds(200);
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(3);
    private static readonly TimeSpan RequestTimeout = TimeSpan.FromSeconds(10);

    /// <summary>Deletes a topic and creates it again, with as many partitions.</summary>
    public async Task<DeletedLog> MakeAgainAsync(string topic, CancellationToken cancellationToken)
    {
        var former = await TryAsync(admin => DescribeAsync(admin, topic), cancellationToken);
        var unread = await TryAsync(admin => UnreadAsync(admin, former!), cancellationToken);
        await TryAsync(admin => DeleteAsync(admin, topic), cancellationToken);
        var options = new KafkaOptions { BootstrapServers = bootstrapServers, Partitions = former!.Partitions.Count };
        var topics = new KafkaTopics(Options.Create(options), time, NullLogger<KafkaTopics>.Instance);
        await UntilAsync(
            async admin =>
            {
                await topics.EnsureSharedAsync();
                return await DescribeAsync(admin, topic) is { } present
                    && present.TopicId.ToString() != former.TopicId.ToString();
            },
            cancellationToken);
        return new DeletedLog(unread);
    }

    /// <summary>Waits until every broker has what it replicates: until then, the next one that is lost may be the
    /// last that has it.</summary>
    public Task WaitUntilReplicatedAsync(CancellationToken cancellationToken) => UntilAsync(
        admin => Task.FromResult(admin.GetMetadata(RequestTimeout).Topics.SelectMany(topic => topic.Partitions)
            .All(partition => partition.InSyncReplicas.Length == partition.Replicas.Length)),
        cancellationToken);

    /// <summary>Has a broker lead the partitions that it is to lead before others, as brokers see to every few minutes.
    /// </summary>
    /// <returns>The partitions that it leads then.</returns>
    public Task<HashSet<TopicPartition>> LeadAsync(int broker, CancellationToken cancellationToken) => TryAsync(
        async admin =>
        {
            var others = PartitionsOf(
                admin, partition => partition.Replicas.FirstOrDefault() == broker && partition.Leader != broker);
            if (others.Count > 0)
            {
                try
                {
                    await admin.ElectLeadersAsync(ElectionType.Preferred, others);
                }
                catch (ElectLeadersException)
                {
                    // It has no complete copy of some of them.
                }
            }
            return PartitionsOf(admin, partition => partition.Leader == broker);
        },
        cancellationToken);

    /// <summary>Adds a partition to a topic: accounts move to other partitions.</summary>
    public async Task AddPartitionAsync(string topic, CancellationToken cancellationToken)
    {
        var former = await TryAsync(admin => DescribeAsync(admin, topic), cancellationToken);
        var partitions = former!.Partitions.Count + 1;
        await UntilAsync(
            async admin =>
            {
                if ((await DescribeAsync(admin, topic))?.Partitions.Count == partitions)
                {
                    return true;
                }
                await admin.CreatePartitionsAsync(
                    [new PartitionsSpecification { Topic = topic, IncreaseTo = partitions }]);
                return false;
            },
            cancellationToken);
    }

    /// <summary>Waits until the brokers know that the payment backends' group has no members. Before that, only members
    /// may change its offsets.</summary>
    public Task WaitUntilGroupIsEmptyAsync(CancellationToken cancellationToken) => UntilAsync(
        async admin =>
        {
            var described = await admin.DescribeConsumerGroupsAsync([Groups.Payments]);
            return described.ConsumerGroupDescriptions[0].Members.Count == 0;
        },
        cancellationToken);

    /// <summary>Deletes the offsets of the payment backends' group in a topic, or moves them. It must have no members.
    /// </summary>
    /// <param name="kind">One for which <see cref="FaultProfile.IsOfOffsets"/> holds.</param>
    public Task ChangeOffsetsAsync(FaultKind kind, string topic, CancellationToken cancellationToken) => TryAsync(
        async admin =>
        {
            var committed = await CommittedAsync(admin, topic);
            if (committed.Count == 0)
            {
                return true;
            }
            if (kind == FaultKind.LoseOffsets)
            {
                await admin.DeleteConsumerGroupOffsetsAsync(
                    Groups.Payments, committed.Select(place => place.TopicPartition));
                return true;
            }
            var moved = committed.ConvertAll(place => new TopicPartitionOffset(
                place.TopicPartition,
                kind == FaultKind.MoveOffsetsBack ? place.Offset.Value / 2 : place.Offset.Value + PastTheEnd));
            await admin.AlterConsumerGroupOffsetsAsync(
                [new ConsumerGroupTopicPartitionOffsets(Groups.Payments, moved)]);
            return true;
        },
        cancellationToken);

    private static HashSet<TopicPartition> PartitionsOf(IAdminClient admin, Func<PartitionMetadata, bool> which) =>
    [
        .. admin.GetMetadata(RequestTimeout).Topics.SelectMany(topic => topic.Partitions.Where(which)
            .Select(partition => new TopicPartition(topic.Topic, partition.PartitionId))),
    ];

    private static async Task<TopicDescription?> DescribeAsync(IAdminClient admin, string topic)
    {
        try
        {
            var described = await admin.DescribeTopicsAsync(
                TopicCollection.OfTopicNames([topic]), new DescribeTopicsOptions { RequestTimeout = RequestTimeout });
            return described.TopicDescriptions[0];
        }
        catch (DescribeTopicsException e)
            when (e.Results.TopicDescriptions[0].Error.Code == ErrorCode.UnknownTopicOrPart)
        {
            return null;
        }
    }

    private static async Task<IReadOnlyList<TopicPartitionOffset>> UnreadAsync(
        IAdminClient admin, TopicDescription topic)
    {
        var committed = await CommittedAsync(admin, topic.Name);
        return
        [
            .. topic.Partitions.Select(p => new TopicPartitionOffset(
                topic.Name, p.Partition, committed.Find(c => c.Partition == p.Partition)?.Offset ?? 0)),
        ];
    }

    // Of the partitions that have been read.
    private static async Task<List<TopicPartitionOffset>> CommittedAsync(IAdminClient admin, string topic)
    {
        var groups = await admin.ListConsumerGroupOffsetsAsync(
            [new ConsumerGroupTopicPartitions(Groups.Payments, null)],
            new ListConsumerGroupOffsetsOptions { RequestTimeout = RequestTimeout });
        return
        [
            .. groups[0].Partitions.Where(p => p.Topic == topic && p.Offset.Value >= 0)
                .Select(p => new TopicPartitionOffset(p.TopicPartition, p.Offset)),
        ];
    }

    private static async Task<bool> DeleteAsync(IAdminClient admin, string topic)
    {
        try
        {
            await admin.DeleteTopicsAsync([topic]);
        }
        catch (DeleteTopicsException e) when (e.Results[0].Error.Code == ErrorCode.UnknownTopicOrPart)
        {
            // An attempt before it has deleted it, and its answer was lost.
        }
        return true;
    }

    private Task<bool> UntilAsync(
        Func<IAdminClient, Task<bool>> isDone, CancellationToken cancellationToken) => TryAsync(
        async admin =>
        {
            await Poll.UntilAsync(() => isDone(admin), cancellationToken);
            return true;
        },
        cancellationToken);

    private async Task<T> TryAsync<T>(Func<IAdminClient, Task<T>> work, CancellationToken cancellationToken)
    {
        using var admin = KafkaClients.Admin(new AdminClientConfig { BootstrapServers = bootstrapServers });
        for (var start = time.GetTimestamp(); ;)
        {
            try
            {
                return await work(admin);
            }
            catch (Exception e) when (e is KafkaException or StartupException && time.GetElapsedTime(start) < Patience)
            {
                await Task.Delay(RetryInterval, time, cancellationToken);
            }
        }
    }
}

/// <summary>What was on a topic that was deleted.</summary>
/// <param name="Unread">The first record of each partition that the group of its readers may not have settled.</param>
public sealed record DeletedLog(IReadOnlyList<TopicPartitionOffset> Unread)
{
    /// <summary>Whether a record on the topic may be lost with it.</summary>
    public bool MayHaveLost(TopicPartitionOffset record) =>
        Unread.Any(first => first.TopicPartition == record.TopicPartition && first.Offset.Value <= record.Offset.Value);
}
