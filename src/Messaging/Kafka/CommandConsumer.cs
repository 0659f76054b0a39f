using Billing.Hosting;
using Billing.Messaging.Kafka.Clients;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Billing.Messaging.Kafka;

/// <summary>The subscription of a backend.</summary>
/// <param name="Topics">The request topics.</param>
/// <param name="Group">The consumer group among whose members the partitions are distributed.</param>
/// <param name="InFlightMax">Number of unsettled commands at which the partitions are paused.</param>
public sealed record CommandSubscription(IReadOnlyList<string> Topics, string Group, int InFlightMax);

/// <summary>Consumes request topics as a member of a group, on its own thread, by calling
/// <see cref="CommandIntake.RunTurn"/> in a loop.</summary>
public sealed class CommandConsumer(
    IOptions<KafkaOptions> options, CommandSubscription subscription, ICommandHandler handler, KafkaAnswerPublisher publisher,
    KafkaTopics topics, Supervisor supervisor, TimeProvider time, ILogger<CommandConsumer> logger, EventFollower? follower = null)
    : Worker(supervisor), IReadyPart
{
    private readonly CommandIntake _intake = new(
        subscription.InFlightMax, handler, publisher, interval => Task.Delay(interval, time).Wait(), time, logger);

    /// <inheritdoc/>
    public string? NotReadyReason => _intake.HasJoined ? null
        : follower?.Following.IsCompleted == false ? "the end of the events is not known yet"
        : $"the consumer has not joined its group {subscription.Group}";

    /// <summary>Creates the missing topics and joins the group as soon as the read model follows the events.</summary>
    /// <exception cref="StartupException">No broker answers.</exception>
    public override async Task StartAsync(CancellationToken cancellationToken)
    {
        await topics.EnsureSharedAsync();
        await base.StartAsync(cancellationToken);
    }

    /// <summary>Consumes until it is stopped; then waits a limited time for the commands in flight, commits the settled offsets and
    /// leaves the group.</summary>
    public override Task RunAsync(CancellationToken stopping) => RunOnThread(() => Run(stopping));

    private void Run(CancellationToken stopping)
    {
        follower?.Following.Wait(stopping);
        using var consumer = KafkaClients.Consumer<byte[], byte[]>(
            options.Value.GroupMember(subscription.Group, subscription.Group), e => KafkaLog.Error(logger, e), logger,
            builder => builder
                .SetPartitionsAssignedHandler((consumer, added) => _intake.Assigned(consumer, added))
                .SetPartitionsRevokedHandler((consumer, revoked) => _intake.Revoked(consumer, revoked))
                .SetPartitionsLostHandler((_, lost) => _intake.Lost(lost)));
        consumer.Subscribe(subscription.Topics);
        KafkaLog.Subscribed(logger, string.Join(", ", subscription.Topics), subscription.Group);
        while (!stopping.IsCancellationRequested)
        {
            _intake.RunTurn(consumer);
        }
        _intake.Leave(consumer);
        consumer.Close();
    }
}
