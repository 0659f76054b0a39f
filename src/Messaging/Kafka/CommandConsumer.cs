using Billing.Messaging.Hosting;
using Confluent.Kafka;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Billing.Messaging.Kafka;

/// <summary>What a backend consumes.</summary>
/// <param name="Topics">The request topics.</param>
/// <param name="Group">The consumer group that shares them out.</param>
/// <param name="InFlightMax">Unsettled commands at which the partitions are paused.</param>
public sealed record CommandSubscription(IReadOnlyList<string> Topics, string Group, int InFlightMax);

/// <summary>Consumes request topics as a member of a group: one thread drains what is there, hands it to the handler, and
/// commits offsets up to the contiguous watermark of what the handler has settled. Never waits for the handler: when too
/// much is in flight it pauses its partitions and goes on polling, so it stays in the group.</summary>
public sealed class CommandConsumer : IHostedService, IDisposable
{
    /// <summary>Records drained at a time.</summary>
    public const int DrainMax = 1000;

    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan PollIntervalWhenBusy = TimeSpan.FromMilliseconds(5);
    private static readonly TimeSpan SettleTimeout = TimeSpan.FromSeconds(2);

    private readonly KafkaOptions _options;
    private readonly CommandSubscription _subscription;
    private readonly ICommandHandler _handler;
    private readonly CommandReader _reader;
    private readonly KafkaTopics _topics;
    private readonly EventFollower? _follower;
    private readonly IHostApplicationLifetime _lifetime;
    private readonly TimeProvider _time;
    private readonly ILogger<CommandConsumer> _logger;
    private readonly ConsumerThread _thread = new();
    private readonly Dictionary<TopicPartition, OffsetWatermark> _watermarks = [];

    // Read and not yet handed to the handler.
    private List<Delivery> _drained = [];
    private bool _paused;

    /// <summary>Creates the consumer; it joins its group on <see cref="StartAsync"/>.</summary>
    public CommandConsumer(
        IOptions<KafkaOptions> options, CommandSubscription subscription, ICommandHandler handler,
        KafkaAnswerPublisher publisher, KafkaTopics topics, IHostApplicationLifetime lifetime, TimeProvider time,
        ILogger<CommandConsumer> logger, EventFollower? follower = null)
    {
        _options = options.Value;
        _subscription = subscription;
        _handler = handler;
        _reader = new CommandReader(publisher);
        _topics = topics;
        _lifetime = lifetime;
        _time = time;
        _logger = logger;
        _follower = follower;
    }

    /// <summary>Whether the group has given this backend partitions; a read model, where it has one, is built before.
    /// </summary>
    public bool HasJoined { get; private set; }

    /// <summary>Makes the topics that are missing and joins the group, once the read model is built.</summary>
    /// <exception cref="StartupException">No broker answers.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        await _topics.EnsureSharedAsync();
        _thread.Start(Run);
    }

    /// <summary>Leaves the group, having waited a while for what is in flight and committed what is settled.</summary>
    public Task StopAsync(CancellationToken cancellationToken) => _thread.StopAsync();

    /// <inheritdoc/>
    public void Dispose() => _thread.Dispose();

    private void Run()
    {
        try
        {
            _follower?.Built.Wait(_thread.Stopping);
            using var consumer = Build();
            consumer.Subscribe(_subscription.Topics);
            KafkaLog.Subscribed(_logger, string.Join(", ", _subscription.Topics), _subscription.Group);
            while (!_thread.Stopping.IsCancellationRequested)
            {
                PauseOrResume(consumer);
                Drain(consumer);
                StoreOffsets(consumer);
            }
            WaitUntilSettled(consumer, _watermarks.Keys.ToList());
            consumer.Close();
        }
        catch (OperationCanceledException) when (_thread.Stopping.IsCancellationRequested)
        {
            // Stopped while the read model was built: there is no group to leave yet.
        }
        catch (KafkaException e)
        {
            KafkaLog.Fatal(_logger, e.Error.Reason);
            Environment.ExitCode = Service.Failed;
            _lifetime.StopApplication();
        }
    }

    private IConsumer<byte[], byte[]> Build() =>
        new ConsumerBuilder<byte[], byte[]>(_options.GroupMember(_subscription.Group, _subscription.Group))
            .SetErrorHandler((_, e) => KafkaLog.Error(_logger, e))
            .SetLogHandler((_, m) => KafkaLog.ClientLog(_logger, m.Facility, m.Message))
            .SetPartitionsAssignedHandler((_, added) => Assigned(added))
            .SetPartitionsRevokedHandler((consumer, revoked) => Revoked(consumer, revoked))
            .SetPartitionsLostHandler((_, lost) => Lost(lost))
            .Build();

    private void Drain(IConsumer<byte[], byte[]> consumer)
    {
        var wait = _watermarks.Values.Any(w => w.Count > 0) ? PollIntervalWhenBusy : PollInterval;
        for (var record = Consume(consumer, wait); record is not null; record = Consume(consumer, TimeSpan.Zero))
        {
            var slot = _watermarks[record.TopicPartition].Track(record.Offset.Value);
            if (_reader.Read(record, slot) is { } delivery)
            {
                _drained.Add(delivery);
            }
            if (_drained.Count == DrainMax)
            {
                break;
            }
        }
        HandOver();
    }

    private void HandOver()
    {
        if (_drained.Count > 0)
        {
            var deliveries = _drained;
            _drained = [];
            _handler.Accept(deliveries);
        }
    }

    private ConsumeResult<byte[], byte[]>? Consume(IConsumer<byte[], byte[]> consumer, TimeSpan wait)
    {
        try
        {
            return consumer.Consume(wait);
        }
        catch (ConsumeException e) when (!e.Error.IsFatal)
        {
            KafkaLog.ClientError(_logger, e.Error.Reason);
            return null;
        }
    }

    private void PauseOrResume(IConsumer<byte[], byte[]> consumer)
    {
        var inFlight = _handler.InFlight;
        if (!_paused && inFlight >= _subscription.InFlightMax)
        {
            consumer.Pause(consumer.Assignment);
            _paused = true;
            KafkaLog.Paused(_logger, inFlight);
        }
        else if (_paused && inFlight < _subscription.InFlightMax - (_subscription.InFlightMax / 4))
        {
            consumer.Resume(consumer.Assignment);
            _paused = false;
            KafkaLog.Resumed(_logger);
        }
    }

    private void StoreOffsets(IConsumer<byte[], byte[]> consumer)
    {
        foreach (var (partition, watermark) in _watermarks)
        {
            if (watermark.TryAdvance(out var next))
            {
                consumer.StoreOffset(new TopicPartitionOffset(partition, next));
            }
        }
    }

    private void Assigned(List<TopicPartition> added)
    {
        foreach (var partition in added)
        {
            _watermarks[partition] = new OffsetWatermark();
        }
        // New partitions come unpaused; the next turn pauses all of them again if there is still too much in flight.
        _paused = false;
        HasJoined = true;
        KafkaLog.Assigned(_logger, string.Join(", ", added));
    }

    private void Revoked(IConsumer<byte[], byte[]> consumer, List<TopicPartitionOffset> revoked)
    {
        var partitions = revoked.ConvertAll(r => r.TopicPartition);
        // A revocation comes in the middle of draining; what was drained by then could never settle otherwise.
        HandOver();
        var unsettled = WaitUntilSettled(consumer, partitions);
        Drop(partitions);
        KafkaLog.Revoked(_logger, string.Join(", ", partitions), unsettled);
    }

    private void Lost(List<TopicPartitionOffset> lost)
    {
        Drop(lost.ConvertAll(l => l.TopicPartition));
        KafkaLog.Lost(_logger, string.Join(", ", lost.Select(l => l.TopicPartition)));
    }

    private void Drop(List<TopicPartition> partitions)
    {
        foreach (var partition in partitions)
        {
            _watermarks.Remove(partition);
        }
        _handler.Forget(partitions.ConvertAll(p => new SourcePartition(p.Topic, p.Partition.Value)));
    }

    /// <summary>Waits, but not for long, until the partitions' commands are settled, and commits what is.</summary>
    /// <returns>How many are not: their next owner gets them again and finds the receipts of those already recorded.
    /// </returns>
    private int WaitUntilSettled(IConsumer<byte[], byte[]> consumer, List<TopicPartition> partitions)
    {
        var start = _time.GetTimestamp();
        while (true)
        {
            StoreOffsets(consumer);
            var unsettled = partitions.Sum(p => _watermarks.TryGetValue(p, out var watermark) ? watermark.Count : 0);
            if (unsettled == 0 || _time.GetElapsedTime(start) > SettleTimeout)
            {
                CommitStored(consumer);
                return unsettled;
            }
            Task.Delay(PollIntervalWhenBusy, _time).Wait();
        }
    }

    private void CommitStored(IConsumer<byte[], byte[]> consumer)
    {
        try
        {
            consumer.Commit();
        }
        catch (KafkaException e) when (e.Error.Code == ErrorCode.Local_NoOffset)
        {
            // Nothing was settled since the last commit.
        }
        catch (KafkaException e)
        {
            KafkaLog.ClientError(_logger, "Offsets were not committed: " + e.Error.Reason);
        }
    }
}
