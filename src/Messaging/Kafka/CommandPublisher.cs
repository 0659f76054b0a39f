using Billing.Contracts;
using Billing.Hosting.Telemetry;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Requests;
using Billing.Messaging.Telemetry;
using Billing.Wire.V1;
using Confluent.Kafka;
using Google.Protobuf;
using Grpc.Core;

namespace Billing.Messaging.Kafka;

/// <summary>Publishes one proxy's commands, each to the topic of its payment type and kind of request.
/// The replies arrive through the table of waiting calls.</summary>
internal sealed class CommandPublisher(ProducerPair producers, PendingReplies pending, string replyTopic)
    : IRequestTransport
{
    public TransportDescription Description { get; } = new(
        "kafka", InsteadOfKafka: null, StoresCommands: true, TimesSteps: true);

    public Task<Reply> SendAsync(Request request, Action<int>? stored = null)
    {
        var (correlationId, reply) = pending.Register(request);
        Publish(
            request, correlationId,
            request.Partition is { } partition ? new Partition(partition) : Partition.Any, stored);
        return reply;
    }

    private void Publish(Request request, ulong correlationId, Partition partition, Action<int>? stored)
    {
        var topic = Topics.Of(request.Route);
        var (span, since) = (KafkaTracing.StartSend(topic), MessagingMetrics.Now);
        var message = new Message<string, byte[]>
        {
            Key = request.Route.AccountId,
            Value = request.ToCommand(correlationId, replyTopic).ToByteArray(),
            Headers = WireHeaders.For(span),
        };
        var producer = producers.Begin(message.Key);
        try
        {
            producer.Produce(new TopicPartition(topic, partition), message, report =>
            {
                Ended(report.Error);
                if (!report.Error.IsError)
                {
                    stored?.Invoke(report.Partition.Value);
                }
            });
        }
        catch (KafkaException e)
        {
            Ended(e.Error);
        }

        void Ended(Confluent.Kafka.Error error)
        {
            // The topic has been made again since, with fewer partitions.
            var isElsewhere = error.Code == ErrorCode.Local_UnknownPartition && partition != Partition.Any;
            var why = error.IsError ? error.Code.ToString() : null;
            producers.End(producer, hasFailed: error.IsError && !isElsewhere);
            Tracing.End(span, why);
            MessagingMetrics.Sent(topic, since, why);
            if (isElsewhere)
            {
                Publish(request, correlationId, Partition.Any, stored);
            }
            else if (error.IsError)
            {
                pending.Complete(Failed(correlationId, topic, error));
            }
        }
    }

    private static Reply Failed(ulong correlationId, string topic, Confluent.Kafka.Error error) =>
        error.Code == ErrorCode.Local_QueueFull
            ? Replies.Error(
                correlationId, StatusCode.ResourceExhausted, ErrorReasons.TooManyInFlight,
                "The proxy's queue of unsent commands is full.")
            : Replies.Error(
                correlationId, StatusCode.Unavailable, ErrorReasons.BrokerUnavailable,
                $"The command could not be published to {topic}: {error.Reason}");
}
