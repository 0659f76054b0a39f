using Billing.Hosting;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.Offsets;
using Confluent.Kafka;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Billing.Messaging.Kafka;

/// <summary>Keeps a read model up to date, on its own thread: queries the end offsets of the event topic, resets the
/// model, and then applies every event from these offsets on. What was published before is in the event store when the
/// model reads it. If the topic no longer contains the next event, because the follower lagged by more than the
/// retention time, or if the topic was deleted and created again, all that begins again.</summary>
public sealed class EventFollower(
    IOptions<KafkaOptions> options, IReadModel model, KafkaTopics topics, Supervisor supervisor,
    TimeProvider time, ILogger<EventFollower> logger)
    : Worker(supervisor)
{
    private static readonly TimeSpan RetryInterval = TimeSpan.FromSeconds(1);

    private readonly EventReader _reader = new(model, logger);
    private readonly TaskCompletionSource _following = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>How often the follower checks for new partitions of the topic, and whether it is
    /// still the same one.</summary>
    public TimeSpan PartitionsInterval { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>Completes when events are being applied; never, if the follower is stopped before.</summary>
    public Task Following => _following.Task;

    /// <summary>Creates the missing topics and starts to follow the events.</summary>
    /// <exception cref="StartupException">No broker answers.</exception>
    public override async Task StartAsync(CancellationToken cancellationToken)
    {
        await topics.EnsureSharedAsync();
        await base.StartAsync(cancellationToken);
    }

    /// <inheritdoc/>
    public override Task RunAsync(CancellationToken stopping) => RunOnThread(() => Run(stopping));

    private void Run(CancellationToken stopping)
    {
        while (true)
        {
            // A client that knows a former topic may keep asking for epochs of leaders that the present
            // one has not had yet.
            using var consumer = KafkaClients.Consumer<byte[], byte[]>(
                options.Value.Follower("billing-follower"), e => KafkaLog.Error(logger, e), logger);
            using var admin = new DependentAdminClientBuilder(consumer.Handle).Build();
            var ids = new TopicIds([Topics.Events], TopicIds.From(admin), PartitionsInterval, time, logger);
            ids.Changed();
            StoreEndOffsets(consumer, admin, stopping);
            model.Reset();
            _reader.Assign(consumer);
            _following.TrySetResult();
            FollowUntilEventsAreLost(consumer, admin, ids, stopping);
        }
    }

    private void StoreEndOffsets(IConsumer<byte[], byte[]> consumer, IAdminClient admin, CancellationToken stopping)
    {
        while (true)
        {
            try
            {
                // A refusal of the brokers is heard of here, and changes the password.
                consumer.Consume(TimeSpan.Zero);
                _reader.StoreEndOffsets(consumer, Partitions(admin));
                return;
            }
            catch (KafkaException e) when (!e.Error.IsFatal)
            {
                KafkaLog.ClientError(logger, e.Error.Reason);
                stopping.WaitHandle.WaitOne(RetryInterval);
                stopping.ThrowIfCancellationRequested();
            }
        }
    }

    private void FollowUntilEventsAreLost(
        IConsumer<byte[], byte[]> consumer, IAdminClient admin, TopicIds ids, CancellationToken stopping)
    {
        var checkedAt = time.GetTimestamp();
        while (ids.Changed().Count == 0 && _reader.RunTurn(consumer))
        {
            stopping.ThrowIfCancellationRequested();
            if (time.GetElapsedTime(checkedAt) >= PartitionsInterval)
            {
                AddPartitions(consumer, admin);
                checkedAt = time.GetTimestamp();
            }
        }
    }

    private void AddPartitions(IConsumer<byte[], byte[]> consumer, IAdminClient admin)
    {
        try
        {
            _reader.Add(consumer, Partitions(admin));
        }
        catch (KafkaException e) when (!e.Error.IsFatal)
        {
            KafkaLog.ClientError(logger, "The partitions of the event topic could not be queried: " + e.Error.Reason);
        }
    }

    private static List<TopicPartition> Partitions(IAdminClient admin)
    {
        var topic = admin.GetMetadata(Topics.Events, EventReader.QueryTimeout).Topics.Single();
        return topic.Error.IsError
            ? throw new KafkaException(topic.Error)
            : [.. topic.Partitions.Select(p => new TopicPartition(Topics.Events, p.PartitionId))];
    }
}
