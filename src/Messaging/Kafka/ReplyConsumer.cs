using Billing.Wire.V1;
using Confluent.Kafka;
using Google.Protobuf;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Kafka;

/// <summary>Reads one proxy's reply topic on a thread of its own and completes the calls that wait. The topic belongs to
/// this process alone, so it is assigned, not shared out by a group, and read from its beginning.</summary>
internal sealed class ReplyConsumer(KafkaOptions options, string topic, PendingReplies pending, ILogger logger)
    : IDisposable
{
    private readonly ConsumerThread _thread = new();
    private readonly TaskCompletionSource _reading = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Completes with the first record: from then on the topic is known to lead here.</summary>
    public Task Reading => _reading.Task;

    public void Start() => _thread.Start(Run);

    public Task StopAsync() => _thread.StopAsync();

    public void Dispose() => _thread.Dispose();

    private void Run()
    {
        using var consumer = new ConsumerBuilder<Ignore, byte[]>(options.Consumer("billing-proxy", topic))
            .SetErrorHandler((_, e) => KafkaLog.Error(logger, e))
            .SetLogHandler((_, m) => KafkaLog.ClientLog(logger, m.Facility, m.Message))
            .Build();
        // Not "the beginning": that is a question to a broker that may not know so new a topic yet.
        consumer.Assign(new TopicPartitionOffset(topic, 0, 0));
        while (!_thread.Stopping.IsCancellationRequested)
        {
            try
            {
                Complete(consumer.Consume(_thread.Stopping));
                _reading.TrySetResult();
            }
            catch (OperationCanceledException)
            {
                break;
            }
            catch (ConsumeException e)
            {
                KafkaLog.BadReply(logger, e.Error.Reason);
            }
        }
        consumer.Close();
    }

    private void Complete(ConsumeResult<Ignore, byte[]> record)
    {
        try
        {
            foreach (var reply in ReplyBatch.Parser.ParseFrom(record.Message.Value ?? []).Replies)
            {
                pending.Complete(reply);
            }
        }
        catch (InvalidProtocolBufferException e)
        {
            KafkaLog.BadReply(logger, e.Message);
        }
    }
}
