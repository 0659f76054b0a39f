using System.Text;
using Billing.Messaging.Kafka.Clients;
using Confluent.Kafka;

namespace Billing.Simulation.Kafka;

/// <summary>A producer of the model. It is idempotent: the records of a partition keep their order and arrive once, whatever
/// their latency. Records in flight when the process crashes may still arrive, in the order of each partition.</summary>
internal sealed class ModelProducer : PlainProducer
{
    private readonly Brokers _brokers;
    private readonly Node _node;
    private readonly TimeSpan _timeout;
    private readonly Dictionary<TopicPartition, Queue<Sent>> _queues = [];
    private long _cutAt = long.MaxValue;

    /// <param name="brokers">The cluster.</param>
    /// <param name="node">The process it belongs to.</param>
    /// <param name="timeout">How long it tries to send a record; zero for no limit.</param>
    public ModelProducer(Brokers brokers, Node node, TimeSpan timeout)
    {
        _brokers = brokers;
        _node = node;
        _timeout = timeout;
        // Some of the records sent may already be on the network.
        node.OnCrash(() => _cutAt = brokers.Scheduler.Now + brokers.Dice.UpTo(brokers.LatencyMs).Ticks);
    }

    /// <summary>Number of records that it accepted.</summary>
    public int Produced { get; private set; }

    /// <summary>Until when it refuses records because its queue is full.</summary>
    public long FullUntil { get; set; }

    public override string Name => _node.Name;

    /// <summary>A pair of this producer, as the one that lingers to batch records, and another one that does not.</summary>
    public ProducerPair Pair() => new(this, new ModelProducer(_brokers, _node, _timeout));

    public override void Produce(string topic, Message<string, byte[]> message, Action<DeliveryReport<string, byte[]>>? deliveryHandler = null)
    {
        var key = message.Key is null ? null : Encoding.UTF8.GetBytes(message.Key);
        if ((message.Value?.Length ?? 0) + (key?.Length ?? 0) > Brokers.RecordBytesMax)
        {
            throw Refuse(topic, message, ErrorCode.MsgSizeTooLarge);
        }
        if (FullUntil > _brokers.Scheduler.Now)
        {
            throw Refuse(topic, message, ErrorCode.Local_QueueFull);
        }
        Produced++;
        if (_brokers.Find(topic) is null)
        {
            _brokers.Scheduler.After(_brokers.Dice.UpTo(50), _node, () => Report(topic, message, deliveryHandler, ErrorCode.UnknownTopicOrPart));
            return;
        }
        var log = _brokers.Of(topic, key);
        var now = _brokers.Scheduler.Now;
        var record = new StoredRecord(key, message.Value, message.Headers ?? [], DateTime.UnixEpoch.AddTicks(now));
        var sent = new Sent(log, record, topic, message, deliveryHandler, now, now + _brokers.Dice.UpTo(_brokers.LatencyMs).Ticks);
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
            if (_brokers.IsUnavailable)
            {
                Wait(queue);
                return;
            }
            queue.Dequeue();
            if (_brokers.Find(sent.Topic) is null)
            {
                _brokers.Scheduler.At(now, new Due(_node, () => Report(sent, ErrorCode.UnknownTopicOrPart)));
                continue;
            }
            sent.Log.Append(sent.Record);
            _brokers.Scheduler.After(_brokers.Dice.UpTo(_brokers.LatencyMs), _node, () => Report(sent, ErrorCode.NoError));
        }
    }

    private void Wait(Queue<Sent> queue)
    {
        while (_timeout > TimeSpan.Zero && queue.TryPeek(out var sent) && _brokers.AwayUntil > sent.At + _timeout.Ticks)
        {
            queue.Dequeue();
            _brokers.Scheduler.At(sent.At + _timeout.Ticks, new Due(_node, () => Report(sent, ErrorCode.Local_MsgTimedOut)));
        }
        _brokers.Scheduler.At(_brokers.AwayUntil, new Due(null, () => Arrive(queue)));
    }

    private static void Report(Sent sent, ErrorCode code) => Report(sent.Topic, sent.Message, sent.Handler, code);

    private static void Report(
        string topic, Message<string, byte[]> message, Action<DeliveryReport<string, byte[]>>? handler, ErrorCode code) =>
        handler?.Invoke(new DeliveryReport<string, byte[]> { Topic = topic, Message = message, Error = new Error(code, code.ToString()) });

    private static ProduceException<string, byte[]> Refuse(string topic, Message<string, byte[]> message, ErrorCode code) =>
        new(new Error(code, code.ToString()), new DeliveryResult<string, byte[]> { Topic = topic, Message = message });

    private sealed record Sent(
        Log Log, StoredRecord Record, string Topic, Message<string, byte[]> Message,
        Action<DeliveryReport<string, byte[]>>? Handler, long At, long Arrives);
}
