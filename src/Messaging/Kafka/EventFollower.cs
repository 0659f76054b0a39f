using Billing.Contracts;
using Billing.Messaging.Hosting;
using Billing.Wire.V1;
using Confluent.Kafka;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Billing.Messaging.Kafka;

/// <summary>Keeps a read model up to date, on a thread of its own: notes where the event topic ends, then lets the model be
/// built, then hands it every event from there on, so that what is published during the build is not missed. Where the topic
/// has lost what comes next, because its retention was shorter than the follower was behind, the model is built anew.
/// </summary>
public sealed class EventFollower : IHostedService, IDisposable
{
    /// <summary>Events handed over at a time, at most.</summary>
    public const int DrainMax = 1000;

    private const string ClientId = "billing-follower";

    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan RetryInterval = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan QueryTimeout = TimeSpan.FromSeconds(5);

    private readonly KafkaOptions _options;
    private readonly IReadModel _model;
    private readonly KafkaTopics _topics;
    private readonly IHostApplicationLifetime _lifetime;
    private readonly TimeProvider _time;
    private readonly ILogger<EventFollower> _logger;
    private readonly ConsumerThread _thread = new();
    private readonly TaskCompletionSource _built = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Dictionary<TopicPartition, Offset> _next = [];

    /// <summary>Creates the follower; it begins on <see cref="StartAsync"/>.</summary>
    public EventFollower(
        IOptions<KafkaOptions> options, IReadModel model, KafkaTopics topics, IHostApplicationLifetime lifetime,
        TimeProvider time, ILogger<EventFollower> logger)
    {
        _options = options.Value;
        _model = model;
        _topics = topics;
        _lifetime = lifetime;
        _time = time;
        _logger = logger;
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
        try
        {
            using var consumer = Build();
            using var admin = new DependentAdminClientBuilder(consumer.Handle).Build();
            while (true)
            {
                NoteEnds(consumer, admin);
                _model.RebuildAsync(_thread.Stopping).GetAwaiter().GetResult();
                Assign(consumer);
                _built.TrySetResult();
                FollowUntilEventsAreGone(consumer, admin);
                consumer.Unassign();
            }
        }
        catch (OperationCanceledException) when (_thread.Stopping.IsCancellationRequested)
        {
            // Told to stop; there is nothing to commit and no group to leave.
        }
        catch (Exception e)
        {
            // Without the events every answer would grow older and nobody would know.
            KafkaLog.FollowingFailed(_logger, e);
            Environment.ExitCode = Service.Failed;
            _lifetime.StopApplication();
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
                _next.Clear();
                foreach (var partition in Partitions(admin))
                {
                    _next.Add(partition, consumer.QueryWatermarkOffsets(partition, QueryTimeout).High);
                }
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

    // Every replica answers for all accounts, so every replica needs all partitions. A group would share them out; a group
    // for each replica would leave its offsets behind on the brokers, and nobody needs them: after a restart the model is
    // built from the event store.
    private void Assign(IConsumer<byte[], byte[]> consumer)
    {
        consumer.Assign(_next.Select(next => new TopicPartitionOffset(next.Key, next.Value)));
        KafkaLog.Following(_logger, Topics.Events, string.Join(", ", _next.Select(n => $"{n.Key.Partition.Value}@{n.Value}")));
    }

    private void FollowUntilEventsAreGone(IConsumer<byte[], byte[]> consumer, IAdminClient admin)
    {
        var looked = _time.GetTimestamp();
        while (Drain(consumer))
        {
            _thread.Stopping.ThrowIfCancellationRequested();
            if (_time.GetElapsedTime(looked) >= PartitionsInterval)
            {
                AddPartitions(consumer, admin);
                looked = _time.GetTimestamp();
            }
        }
    }

    /// <summary>Hands over what is there.</summary>
    /// <returns>False where the topic no longer holds what comes next.</returns>
    private bool Drain(IConsumer<byte[], byte[]> consumer)
    {
        var events = new List<Event>();
        var goesOn = true;
        try
        {
            var record = consumer.Consume(PollInterval);
            for (var taken = 1; record is not null; taken++)
            {
                _next[record.TopicPartition] = record.Offset + 1;
                if (Read(record) is { } recorded)
                {
                    events.Add(recorded);
                }
                record = taken < DrainMax ? consumer.Consume(TimeSpan.Zero) : null;
            }
        }
        catch (ConsumeException e) when (e.Error.Code is ErrorCode.Local_AutoOffsetReset or ErrorCode.OffsetOutOfRange)
        {
            KafkaLog.EventsGone(_logger, Topics.Events, e.Error.Reason);
            goesOn = false;
        }
        catch (ConsumeException e) when (!e.Error.IsFatal)
        {
            KafkaLog.ClientError(_logger, e.Error.Reason);
        }
        if (events.Count > 0)
        {
            _model.Apply(events);
        }
        return goesOn;
    }

    private Event? Read(ConsumeResult<byte[], byte[]> record)
    {
        if (WireFormat.TryReadEvent(record.Message.Value, record.WireVersion(), out var recorded, out var refusal))
        {
            return recorded;
        }
        KafkaLog.EventIgnored(_logger, record.Topic, record.Partition.Value, record.Offset.Value, refusal);
        return null;
    }

    private void AddPartitions(IConsumer<byte[], byte[]> consumer, IAdminClient admin)
    {
        try
        {
            var added = Partitions(admin).Where(p => !_next.ContainsKey(p)).ToList();
            if (added.Count == 0)
            {
                return;
            }
            KafkaLog.PartitionsAdded(_logger, Topics.Events, string.Join(", ", added.Select(p => p.Partition.Value)));
            // They may hold events already, of accounts that had theirs on another partition before.
            added.ForEach(p => _next.Add(p, Offset.Beginning));
            Assign(consumer);
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
