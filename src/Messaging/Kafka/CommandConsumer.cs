using Billing.Hosting;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.Offsets;
using Confluent.Kafka;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Billing.Messaging.Kafka;

/// <summary>The subscription of a backend.</summary>
/// <param name="Topics">The request topics.</param>
/// <param name="Group">The consumer group among whose members the partitions are distributed.</param>
/// <param name="InFlightMax">Number of unsettled commands at which the partitions are paused.</param>
/// <param name="Memory">The memory of those commands: when it is taken, the partitions are paused, too.</param>
public sealed record CommandSubscription(
    IReadOnlyList<string> Topics, string Group, int InFlightMax, CommandMemory Memory);

/// <summary>Consumes request topics as a member of a group, on its own thread, by calling
/// <see cref="CommandIntake.RunTurn"/> in a loop.</summary>
public sealed class CommandConsumer(
    IOptions<KafkaOptions> options, CommandSubscription subscription, ICommandHandler handler,
    KafkaAnswerPublisher publisher, KafkaTopics topics, Supervisor supervisor, TimeProvider time,
    ILogger<CommandConsumer> logger, EventFollower? follower = null)
    : Worker(supervisor), IReadyPart
{
    private volatile CommandIntake? _intake;

    /// <inheritdoc/>
    public string? NotReadyReason => _intake?.HasJoined == true ? null
        : follower?.Following.IsCompleted == false ? "the end of the events is not known yet"
        : $"the consumer has not joined its group {subscription.Group}";

    /// <summary>Creates the missing topics and joins the group as soon as the read model follows the events.</summary>
    /// <exception cref="StartupException">No broker answers.</exception>
    public override async Task StartAsync(CancellationToken cancellationToken)
    {
        await topics.EnsureSharedAsync();
        await base.StartAsync(cancellationToken);
    }

    /// <summary>Consumes until it is stopped; then waits a limited time for the commands in flight, commits the settled
    /// offsets and leaves the group.</summary>
    public override Task RunAsync(CancellationToken stopping) => RunOnThread(() => Run(stopping));

    private void Run(CancellationToken stopping)
    {
        follower?.Following.Wait(stopping);
        while (!stopping.IsCancellationRequested)
        {
            RunMember(stopping);
        }
    }

    private void RunMember(CancellationToken stopping)
    {
        CommandIntake? intake = null;
        using var consumer = KafkaClients.Consumer<byte[], byte[]>(
            options.Value.GroupMember(subscription.Group, subscription.Group), e => KafkaLog.Error(logger, e), logger,
            builder => builder
                .SetPartitionsAssignedHandler(
                    (consumer, added) => (IEnumerable<TopicPartitionOffset>)intake!.Assigned(consumer, added))
                .SetPartitionsRevokedHandler((consumer, revoked) => intake!.Revoked(consumer, revoked))
                .SetPartitionsLostHandler((_, lost) => intake!.Lost(lost)));
        using var admin = new DependentAdminClientBuilder(consumer.Handle).Build();
        var ids = new TopicIds(subscription.Topics, TopicIds.From(admin), KafkaTimes.TopicLook, time, logger);
        _intake = intake = new CommandIntake(
            subscription.InFlightMax, subscription.Memory, options.Value.FencedMax, handler, publisher,
            new GroupPositions(ids, EpochSeek.SeekInLog, logger),
            interval => Task.Delay(interval, time).Wait(), time, logger);
        consumer.Subscribe(subscription.Topics);
        KafkaLog.Subscribed(logger, string.Join(", ", subscription.Topics), subscription.Group);
        while (!stopping.IsCancellationRequested && intake.RunTurn(consumer))
        {
        }
        intake.Leave(consumer);
        consumer.Close();
    }
}
