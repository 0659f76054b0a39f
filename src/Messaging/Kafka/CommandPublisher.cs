using System.Diagnostics;
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

/// <summary>Publishes one proxy's commands, each to the topic of its payment type and kind of request. The replies arrive
/// through the table of waiting calls.</summary>
internal sealed class CommandPublisher(ProducerPair producers, PendingReplies pending, string replyTopic) : IRequestTransport
{
    public TransportDescription Description { get; } = new("kafka", InsteadOfKafka: null, StoresCommands: true, TimesSteps: true);

    public Task<Reply> SendAsync(Request request, Action? stored = null)
    {
        var (correlationId, reply) = pending.Register(request);
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
            producer.Produce(topic, message, report =>
            {
                Sent(producer, correlationId, topic, since, span, report.Error);
                if (!report.Error.IsError)
                {
                    stored?.Invoke();
                }
            });
        }
        catch (KafkaException e)
        {
            Sent(producer, correlationId, topic, since, span, e.Error);
        }
        return reply;
    }

    private void Sent(
        IProducer<string, byte[]> producer, ulong correlationId, string topic, long since, Activity? span, Confluent.Kafka.Error error)
    {
        producers.End(producer, error.IsError);
        var why = error.IsError ? error.Code.ToString() : null;
        Tracing.End(span, why);
        MessagingMetrics.Sent(topic, since, why);
        if (error.IsError)
        {
            pending.Complete(error.Code == ErrorCode.Local_QueueFull
                ? Replies.Error(
                    correlationId, StatusCode.ResourceExhausted, ErrorReasons.TooManyInFlight, "The proxy's queue of unsent commands is full.")
                : Replies.Error(
                    correlationId, StatusCode.Unavailable, ErrorReasons.BrokerUnavailable, $"The command could not be published to {topic}: {error.Reason}"));
        }
    }
}
