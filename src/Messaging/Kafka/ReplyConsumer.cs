using Billing.Hosting;
using Billing.Hosting.Telemetry;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.Offsets;
using Billing.Messaging.Telemetry;
using Confluent.Kafka;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Kafka;

/// <summary>Reads one proxy's reply topic on its own thread and completes the waiting calls. Only this process uses the
/// topic, so its partition is assigned directly, without a group, and read from the beginning.</summary>
internal sealed class ReplyConsumer(
    KafkaOptions options, string topic, ReplyReader replies, Supervisor supervisor, TimeProvider time, ILogger logger)
    : Worker(supervisor)
{
    private const string PropagationMs = "5000";

    private static readonly TimeSpan TurnMax = TimeSpan.FromMilliseconds(100);

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
        // For this time an unknown topic may be a new one that not all brokers know yet;
        // only after it is an error reported.
        config.Set("topic.metadata.propagation.max.ms", PropagationMs);
        while (!stopping.IsCancellationRequested)
        {
            Read(config, stopping);
        }
    }

    // With a client of its own: one that knows a former topic may keep asking for epochs of leaders that the present
    // one has not had yet.
    private void Read(ConsumerConfig config, CancellationToken stopping)
    {
        using var consumer = KafkaClients.Consumer<Ignore, byte[]>(config, HandleError, logger);
        using var admin = new DependentAdminClientBuilder(consumer.Handle).Build();
        var ids = new TopicIds([topic], TopicIds.From(admin), KafkaTimes.TopicLook, time, logger);
        _startAgain = false;
        // Offset 0, not Offset.Beginning, which queries a broker that may not know the new topic yet.
        consumer.Assign(new TopicPartitionOffset(topic, 0, 0));
        while (!stopping.IsCancellationRequested && !_startAgain && ids.Changed().Count == 0)
        {
            TakeOne(consumer);
        }
        consumer.Close();
    }

    private void TakeOne(IConsumer<Ignore, byte[]> consumer)
    {
        try
        {
            if (consumer.Consume(TurnMax) is not { } record)
            {
                return;
            }
            MessagingMetrics.Read(record.Topic);
            var span = KafkaTracing.StartProcess(record);
            replies.Take(record.Message.Value);
            Tracing.End(span);
            _reading.TrySetResult();
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
