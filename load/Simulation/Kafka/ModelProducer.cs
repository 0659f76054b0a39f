using System.Text;
using Confluent.Kafka;

namespace Billing.Simulation.Kafka;

/// <summary>A producer of the model. It is idempotent: the records of a partition keep their order and
/// arrive once, whatever their latency. Records in flight when the process crashes may still arrive, in the
/// order of each partition.</summary>
internal sealed class ModelProducer : PlainProducer
{
    private readonly Brokers _brokers;
    private readonly Node _node;
    private readonly TimeSpan _timeout;
    private readonly Dictionary<TopicPartition, Queue<Sent>> _queues = [];
    private readonly Dictionary<string, int> _knownPartitions = new(StringComparer.Ordinal);
    private long _cutAt = long.MaxValue;
    private bool _isFatal;

    /// <param name="brokers">The cluster.</param>
    /// <param name="node">The process it belongs to.</param>
    /// <param name="timeout">How long it tries to send a record; zero for no limit.</param>
    public ModelProducer(Brokers brokers, Node node, TimeSpan timeout)
    {
        _brokers = brokers;
        _node = node;
        _timeout = timeout;
        brokers.PartitionsAdded += Note;
        node.OnCrash(() => brokers.PartitionsAdded -= Note);
        // Some of the records sent may already be on the network.
        node.OnCrash(() => _cutAt = brokers.Scheduler.Now + brokers.Dice.UpTo(brokers.LatencyMs).Ticks);
    }

    /// <summary>Number of records that it accepted.</summary>
    public int Produced { get; private set; }

    /// <summary>Until when it refuses records because its queue is full.</summary>
    public long FullUntil { get; set; }

    public override string Name => _node.Name;

    /// <summary>It fails for good, as after the brokers have lost what they know of an idempotent producer:
    /// what is under way is not sent, and its process hears of it.</summary>
    public void Fail()
    {
        _isFatal = true;
        foreach (var sent in _queues.Values.SelectMany(queue => queue).ToList())
        {
            _brokers.Scheduler.At(_brokers.Scheduler.Now, new Due(_node, () => Report(sent, ErrorCode.Local_Fatal)));
        }
        foreach (var queue in _queues.Values)
        {
            queue.Clear();
        }
        _brokers.Scheduler.After(TimeSpan.Zero, _node, () => _node.Supervisor.Fail(
            "producer", new KafkaException(new Error(ErrorCode.Local_Fatal, "out of order sequence", isFatal: true))));
    }

    /// <summary>Another producer like this one, of the same process.</summary>
    public ModelProducer Another() => new(_brokers, _node, _timeout);

    public override void Produce(
        TopicPartition topicPartition, Message<string, byte[]> message,
        Action<DeliveryReport<string, byte[]>>? deliveryHandler = null)
    {
        var topic = topicPartition.Topic;
        var key = message.Key is null ? null : Encoding.UTF8.GetBytes(message.Key);
        if ((message.Value?.Length ?? 0) + (key?.Length ?? 0) > Brokers.RecordBytesMax)
        {
            throw Refuse(topic, message, ErrorCode.MsgSizeTooLarge);
        }
        if (_isFatal)
        {
            throw Refuse(topic, message, ErrorCode.Local_Fatal);
        }
        if (FullUntil > _brokers.Scheduler.Now)
        {
            throw Refuse(topic, message, ErrorCode.Local_QueueFull);
        }
        if (_brokers.Find(topic) is null)
        {
            Produced++;
            _brokers.Scheduler.After(
                _brokers.Dice.UpTo(50), _node,
                () => Report(topicPartition, message, deliveryHandler, ErrorCode.UnknownTopicOrPart));
            return;
        }
        if (_brokers.Of(topic, topicPartition.Partition, key, _knownPartitions.GetValueOrDefault(topic)) is not { } log)
        {
            throw Refuse(topic, message, ErrorCode.Local_UnknownPartition);
        }
        Produced++;
        var now = _brokers.Scheduler.Now;
        var record = new StoredRecord(key, message.Value, message.Headers ?? [], default);
        var sent = new Sent(
            log, record, topic, message, deliveryHandler, now, now + _brokers.Latency(log.Partition).Ticks);
        if (!_queues.TryGetValue(log.Partition, out var queue))
        {
            _queues[log.Partition] = queue = new Queue<Sent>();
        }
        queue.Enqueue(sent);
        _brokers.Scheduler.At(sent.Arrives, new Due(null, () => Arrive(queue)));
    }

    // The first record of the queue holds up those behind it.
    private void Arrive(Queue<Sent> queue)
    {
        var now = _brokers.Scheduler.Now;
        while (now <= _cutAt && queue.TryPeek(out var sent) && sent.Arrives <= now)
        {
            if (_brokers.WritableAt(sent.Topic, _node) is var writable && writable > now)
            {
                Wait(queue, writable);
                return;
            }
            queue.Dequeue();
            if (_brokers.Find(sent.Topic) is null)
            {
                _brokers.Scheduler.At(now, new Due(_node, () => Report(sent, ErrorCode.UnknownTopicOrPart)));
                continue;
            }
            sent.Log.Append(sent.Record with { At = _brokers.TimeOf(sent.Log.Partition) });
            _brokers.Scheduler.After(_brokers.Latency(sent.Log.Partition), _node, () => Acknowledge(sent));
        }
    }

    // The record is there, but its producer learns of it only over a connection.
    private void Acknowledge(Sent sent)
    {
        var heals = _node.ToBrokers.HealsAt;
        if (heals <= _brokers.Scheduler.Now)
        {
            Report(sent, ErrorCode.NoError);
        }
        else if (IsTooLate(sent, heals))
        {
            TimeOut(sent);
        }
        else if (heals < long.MaxValue)
        {
            _brokers.Scheduler.At(heals, new Due(_node, () => Acknowledge(sent)));
        }
    }

    private bool IsTooLate(Sent sent, long at) => _timeout > TimeSpan.Zero && at > sent.At + _timeout.Ticks;

    private void TimeOut(Sent sent) => _brokers.Scheduler.At(
        Math.Max(_brokers.Scheduler.Now, sent.At + _timeout.Ticks),
        new Due(_node, () => Report(sent, ErrorCode.Local_MsgTimedOut)));

    private void Wait(Queue<Sent> queue, long writable)
    {
        while (queue.TryPeek(out var sent) && IsTooLate(sent, writable))
        {
            queue.Dequeue();
            TimeOut(sent);
        }
        if (writable < long.MaxValue)
        {
            _brokers.Scheduler.At(writable, new Due(null, () => Arrive(queue)));
        }
    }

    // Its metadata is refreshed every five seconds.
    private void Note(string topic, int former)
    {
        _knownPartitions[topic] = former;
        _brokers.Scheduler.After(_brokers.Dice.UpTo(5000), _node, () => _knownPartitions.Remove(topic));
    }

    private static void Report(Sent sent, ErrorCode code) =>
        Report(sent.Log.Partition, sent.Message, sent.Handler, code);

    private static void Report(
        TopicPartition partition, Message<string, byte[]> message,
        Action<DeliveryReport<string, byte[]>>? handler, ErrorCode code) =>
        handler?.Invoke(new DeliveryReport<string, byte[]>
        {
            Topic = partition.Topic,
            Partition = partition.Partition,
            Message = message,
            Error = ErrorOf(code),
        });

    private static ProduceException<string, byte[]> Refuse(
        string topic, Message<string, byte[]> message, ErrorCode code) =>
        new(ErrorOf(code), new DeliveryResult<string, byte[]> { Topic = topic, Message = message });

    private static Error ErrorOf(ErrorCode code) => new(code, code.ToString(), isFatal: code == ErrorCode.Local_Fatal);

    private sealed record Sent(
        Log Log, StoredRecord Record, string Topic, Message<string, byte[]> Message,
        Action<DeliveryReport<string, byte[]>>? Handler, long At, long Arrives);
}
