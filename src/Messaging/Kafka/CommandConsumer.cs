using Billing.Hosting;
using Billing.Messaging.Kafka.Clients;
using Confluent.Kafka;
using Microsoft.Extensions.Hosting;
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
public sealed class CommandConsumer : IHostedService, IReadyPart, IDisposable
{
    private readonly KafkaOptions _options;
    private readonly CommandSubscription _subscription;
    private readonly CommandIntake _intake;
    private readonly KafkaTopics _topics;
    private readonly EventFollower? _follower;
    private readonly ILogger<CommandConsumer> _logger;
    private readonly ConsumerThread _thread;

    /// <summary>Creates the consumer; it joins its group on <see cref="StartAsync"/>.</summary>
    public CommandConsumer(
        IOptions<KafkaOptions> options, CommandSubscription subscription, ICommandHandler handler,
        KafkaAnswerPublisher publisher, KafkaTopics topics, Supervisor supervisor, TimeProvider time,
        ILogger<CommandConsumer> logger, EventFollower? follower = null)
    {
        _options = options.Value;
        _subscription = subscription;
        _intake = new CommandIntake(subscription.InFlightMax, handler, publisher, interval => Task.Delay(interval, time).Wait(), time, logger);
        _topics = topics;
        _logger = logger;
        _follower = follower;
        _thread = new ConsumerThread(supervisor, nameof(CommandConsumer));
    }

    /// <summary>Whether the group has assigned partitions to this backend. If there is a read model, it is built before.
    /// </summary>
    public bool HasJoined => _intake.HasJoined;

    /// <inheritdoc/>
    public string? NotReadyReason => HasJoined ? null
        : _follower?.Built.IsCompleted == false ? "the view of the balances is being built from the event store"
        : $"the consumer has not joined its group {_subscription.Group}";

    /// <summary>Creates the missing topics and joins the group as soon as the read model is built.</summary>
    /// <exception cref="StartupException">No broker answers.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        await _topics.EnsureSharedAsync();
        _thread.Start(Run);
    }

    /// <summary>Waits a limited time for the commands in flight, commits the settled offsets and leaves the group.</summary>
    public Task StopAsync(CancellationToken cancellationToken) => _thread.StopAsync();

    /// <inheritdoc/>
    public void Dispose() => _thread.Dispose();

    private void Run()
    {
        _follower?.Built.Wait(_thread.Stopping);
        using var consumer = Build();
        consumer.Subscribe(_subscription.Topics);
        KafkaLog.Subscribed(_logger, string.Join(", ", _subscription.Topics), _subscription.Group);
        while (!_thread.Stopping.IsCancellationRequested)
        {
            _intake.RunTurn(consumer);
        }
        _intake.Leave(consumer);
        consumer.Close();
    }

    private IConsumer<byte[], byte[]> Build() => KafkaClients.Consumer<byte[], byte[]>(
        _options.GroupMember(_subscription.Group, _subscription.Group), e => KafkaLog.Error(_logger, e), _logger,
        builder => builder
            .SetPartitionsAssignedHandler((consumer, added) => _intake.Assigned(consumer, added))
            .SetPartitionsRevokedHandler((consumer, revoked) => _intake.Revoked(consumer, revoked))
            .SetPartitionsLostHandler((_, lost) => _intake.Lost(lost)));
}
