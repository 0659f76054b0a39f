using Billing.Messaging.Hosting;
using Billing.Messaging.Telemetry;
using Confluent.Kafka;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Kafka;

/// <summary>Reads one proxy's reply topic on a thread of its own and completes the calls that wait. The topic belongs to
/// this process alone, so it is assigned, not shared out by a group, and read from its beginning.</summary>
/// <param name="options">How to reach the brokers.</param>
/// <param name="topic">The reply topic.</param>
/// <param name="replies">Takes what is read.</param>
/// <param name="supervisor">Runs the thread.</param>
/// <param name="logger">The log.</param>
internal sealed class ReplyConsumer(
    KafkaOptions options, string topic, ReplyReader replies, Supervisor supervisor, ILogger logger) : IDisposable
{
    private const string PropagationMs = "5000";

    private readonly ConsumerThread _thread = new(supervisor, nameof(ReplyConsumer));
    private readonly TaskCompletionSource _reading = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile bool _startAgain;

    /// <summary>Completes with the first record: from then on the topic is known to lead here.</summary>
    public Task Reading => _reading.Task;

    /// <summary>Is called, on the reading thread, where the topic is no longer there.</summary>
    public Action TopicGone { get; init; } = () => { };

    public void Start() => _thread.Start(Run);

    public Task StopAsync() => _thread.StopAsync();

    /// <summary>Reads the topic from its beginning again: it was made again.</summary>
    public void StartAgain() => _startAgain = true;

    public void Dispose() => _thread.Dispose();

    private void Run()
    {
        var config = options.Consumer("billing-proxy", topic);
        // How long a topic that is not there may still be a new one that the brokers have not all heard of: until then nobody
        // is told that it is gone.
        config.Set("topic.metadata.propagation.max.ms", PropagationMs);
        using var consumer = new ConsumerBuilder<Ignore, byte[]>(config)
            .SetErrorHandler((_, e) => Heed(e))
            .SetLogHandler((_, m) => KafkaLog.ClientLog(logger, m.Facility, m.Message))
            .Build();
        _startAgain = true;
        while (!_thread.Stopping.IsCancellationRequested)
        {
            if (_startAgain)
            {
                _startAgain = false;
                consumer.Unassign();
                // Not "the beginning": that is a question to a broker that may not know so new a topic yet.
                consumer.Assign(new TopicPartitionOffset(topic, 0, 0));
            }
            TakeOne(consumer);
        }
        consumer.Close();
    }

    private void TakeOne(IConsumer<Ignore, byte[]> consumer)
    {
        try
        {
            var record = consumer.Consume(_thread.Stopping);
            MessagingMetrics.Read(record.Topic);
            var span = KafkaTracing.StartProcess(record);
            replies.Take(record.Message.Value);
            Tracing.End(span);
            _reading.TrySetResult();
        }
        catch (OperationCanceledException) when (_thread.Stopping.IsCancellationRequested)
        {
            // Told to stop.
        }
        catch (ConsumeException e) when (!e.Error.IsFatal)
        {
            Heed(e.Error);
        }
    }

    private void Heed(Error error)
    {
        KafkaLog.Error(logger, error);
        if (error.IsUnknownTopic())
        {
            TopicGone();
        }
    }
}
