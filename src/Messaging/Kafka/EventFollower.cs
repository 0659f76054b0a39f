using Billing.Hosting;
using Billing.Messaging.Kafka.Clients;
using Confluent.Kafka;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Billing.Messaging.Kafka;

/// <summary>Keeps a read model up to date, on its own thread: queries the end offsets of the event topic, rebuilds the model, and
/// then applies every event from these offsets on, so that no event published during the rebuild is missed. If the topic no
/// longer contains the next event, because the follower lagged by more than the retention time, the model is rebuilt again.
/// </summary>
public sealed class EventFollower : IHostedService, IDisposable
{
    private const string ClientId = "billing-follower";

    private static readonly TimeSpan RetryInterval = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan QueryTimeout = TimeSpan.FromSeconds(5);

    private readonly KafkaOptions _options;
    private readonly IReadModel _model;
    private readonly KafkaTopics _topics;
    private readonly TimeProvider _time;
    private readonly ILogger<EventFollower> _logger;
    private readonly EventReader _reader;
    private readonly ConsumerThread _thread;
    private readonly TaskCompletionSource _built = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Creates the follower; it starts with <see cref="StartAsync"/>.</summary>
    public EventFollower(
        IOptions<KafkaOptions> options, IReadModel model, KafkaTopics topics, Supervisor supervisor,
        TimeProvider time, ILogger<EventFollower> logger)
    {
        _options = options.Value;
        _model = model;
        _topics = topics;
        _time = time;
        _logger = logger;
        _reader = new EventReader(model, logger);
        _thread = new ConsumerThread(supervisor, nameof(EventFollower));
    }

    /// <summary>How often the follower checks for new partitions of the topic.</summary>
    public TimeSpan PartitionsInterval { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>Completes when the model is built and events are being applied; never, if the follower is stopped before.
    /// </summary>
    public Task Built => _built.Task;

    /// <summary>Creates the missing topics and starts to build the model.</summary>
    /// <exception cref="StartupException">No broker answers.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        await _topics.EnsureSharedAsync();
        _thread.Start(Run);
    }

    /// <summary>Stops building the model or applying events.</summary>
    public Task StopAsync(CancellationToken cancellationToken) => _thread.StopAsync();

    /// <inheritdoc/>
    public void Dispose() => _thread.Dispose();

    private void Run()
    {
        using var consumer = Build();
        using var admin = new DependentAdminClientBuilder(consumer.Handle).Build();
        while (true)
        {
            StoreEndOffsets(consumer, admin);
            _model.RebuildAsync(_thread.Stopping).GetAwaiter().GetResult();
            _reader.Assign(consumer);
            _built.TrySetResult();
            FollowUntilEventsAreLost(consumer, admin);
            consumer.Unassign();
        }
    }

    private IConsumer<byte[], byte[]> Build() =>
        KafkaClients.Consumer<byte[], byte[]>(_options.Follower(ClientId), e => KafkaLog.Error(_logger, e), _logger);

    private void StoreEndOffsets(IConsumer<byte[], byte[]> consumer, IAdminClient admin)
    {
        while (true)
        {
            try
            {
                _reader.StoreEndOffsets(consumer, Partitions(admin));
                return;
            }
            catch (KafkaException e) when (!e.Error.IsFatal)
            {
                KafkaLog.ClientError(_logger, e.Error.Reason);
                _thread.Stopping.WaitHandle.WaitOne(RetryInterval);
                _thread.Stopping.ThrowIfCancellationRequested();
            }
        }
    }

    private void FollowUntilEventsAreLost(IConsumer<byte[], byte[]> consumer, IAdminClient admin)
    {
        var checkedAt = _time.GetTimestamp();
        while (_reader.RunTurn(consumer))
        {
            _thread.Stopping.ThrowIfCancellationRequested();
            if (_time.GetElapsedTime(checkedAt) >= PartitionsInterval)
            {
                AddPartitions(consumer, admin);
                checkedAt = _time.GetTimestamp();
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
            KafkaLog.ClientError(_logger, "The partitions of the event topic could not be queried: " + e.Error.Reason);
        }
    }

    private static List<TopicPartition> Partitions(IAdminClient admin)
    {
        var topic = admin.GetMetadata(Topics.Events, QueryTimeout).Topics.Single();
        return topic.Error.IsError
            ? throw new KafkaException(topic.Error)
            : [.. topic.Partitions.Select(p => new TopicPartition(Topics.Events, p.PartitionId))];
    }
}
