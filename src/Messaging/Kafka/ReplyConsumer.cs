using Billing.Hosting;
using Billing.Hosting.Telemetry;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Telemetry;
using Confluent.Kafka;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Kafka;

/// <summary>Reads one proxy's reply topic on its own thread and completes the waiting calls. Only this process uses the topic, so
/// its partition is assigned directly, without a group, and read from the beginning.</summary>
internal sealed class ReplyConsumer(KafkaOptions options, string topic, ReplyReader replies, Supervisor supervisor, ILogger logger)
    : Worker(supervisor)
{
    private const string PropagationMs = "5000";

    private readonly TaskCompletionSource _reading = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile bool _startAgain;

    /// <summary>Completes with the first record, which proves that records of the topic are received.</summary>
    public Task Reading => _reading.Task;

    /// <summary>Called on the reading thread when the topic does not exist any more.</summary>
    public Action TopicGone { get; init; } = () => { };

    /// <summary>Reads the topic from the beginning after it was created again.</summary>
    public void StartAgain() => _startAgain = true;

    public override Task RunAsync(CancellationToken stopping) => RunOnThread(() => Run(stopping));

    private void Run(CancellationToken stopping)
    {
        var config = options.Consumer("billing-proxy", topic);
        // For this time an unknown topic may be a new one that not all brokers know yet; only after it is an error reported.
        config.Set("topic.metadata.propagation.max.ms", PropagationMs);
        using var consumer = KafkaClients.Consumer<Ignore, byte[]>(config, HandleError, logger);
        _startAgain = true;
        while (!stopping.IsCancellationRequested)
        {
            if (_startAgain)
            {
                _startAgain = false;
                consumer.Unassign();
                // Offset 0, not Offset.Beginning, which queries a broker that may not know the new topic yet.
                consumer.Assign(new TopicPartitionOffset(topic, 0, 0));
            }
            TakeOne(consumer, stopping);
        }
        consumer.Close();
    }

    private void TakeOne(IConsumer<Ignore, byte[]> consumer, CancellationToken stopping)
    {
        try
        {
            var record = consumer.Consume(stopping);
            MessagingMetrics.Read(record.Topic);
            var span = KafkaTracing.StartProcess(record);
            replies.Take(record.Message.Value);
            Tracing.End(span);
            _reading.TrySetResult();
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // The transport stops.
        }
        catch (ConsumeException e) when (!e.Error.IsFatal)
        {
            HandleError(e.Error);
        }
    }

    private void HandleError(Error error)
    {
        KafkaLog.Error(logger, error);
        if (error.IsUnknownTopic())
        {
            TopicGone();
        }
    }
}
