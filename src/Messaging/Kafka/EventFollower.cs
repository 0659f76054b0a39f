using Billing.Contracts;
using Billing.Messaging.Hosting;
using Confluent.Kafka;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Billing.Messaging.Kafka;

/// <summary>Keeps a read model up to date, on a thread of its own: notes where the event topic ends, then lets the model be
/// built, then hands it every event from there on, so that what is published during the build is not missed. Where the topic
/// has lost what comes next, because its retention was shorter than the follower was behind, the model is rebuilt.
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

    /// <summary>Creates the follower; it begins on <see cref="StartAsync"/>.</summary>
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

    /// <summary>How often to look whether the topic has been given more partitions.</summary>
    public TimeSpan PartitionsInterval { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>Completes when the model is built and followed. Never, where the follower is stopped before.</summary>
    public Task Built => _built.Task;

    /// <summary>Makes the topics that are missing and begins to build the model.</summary>
    /// <exception cref="StartupException">No broker answers.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        await _topics.EnsureSharedAsync();
        _thread.Start(Run);
    }

    /// <summary>Stops following, or building.</summary>
    public Task StopAsync(CancellationToken cancellationToken) => _thread.StopAsync();

    /// <inheritdoc/>
    public void Dispose() => _thread.Dispose();

    private void Run()
    {
        using var consumer = Build();
        using var admin = new DependentAdminClientBuilder(consumer.Handle).Build();
        while (true)
        {
            NoteEnds(consumer, admin);
            _model.RebuildAsync(_thread.Stopping).GetAwaiter().GetResult();
            _reader.Assign(consumer);
            _built.TrySetResult();
            FollowUntilEventsAreGone(consumer, admin);
            consumer.Unassign();
        }
    }

    private IConsumer<byte[], byte[]> Build() =>
        new ConsumerBuilder<byte[], byte[]>(_options.Follower(ClientId))
            .SetErrorHandler((_, e) => KafkaLog.Error(_logger, e))
            .SetLogHandler((_, m) => KafkaLog.ClientLog(_logger, m.Facility, m.Message))
            .Build();

    private void NoteEnds(IConsumer<byte[], byte[]> consumer, IAdminClient admin)
    {
        while (true)
        {
            try
            {
                _reader.NoteEnds(consumer, Partitions(admin));
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

    private void FollowUntilEventsAreGone(IConsumer<byte[], byte[]> consumer, IAdminClient admin)
    {
        var looked = _time.GetTimestamp();
        while (_reader.TakeTurn(consumer))
        {
            _thread.Stopping.ThrowIfCancellationRequested();
            if (_time.GetElapsedTime(looked) >= PartitionsInterval)
            {
                AddPartitions(consumer, admin);
                looked = _time.GetTimestamp();
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
            KafkaLog.ClientError(_logger, "The partitions of the event topic were not looked up: " + e.Error.Reason);
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
