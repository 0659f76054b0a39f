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
/// <param name="producers">The proxy's producers.</param>
/// <param name="pending">The waiting calls.</param>
/// <param name="replyTopic">The topic that backends publish the replies to.</param>
internal sealed class CommandPublisher(ProducerPair producers, PendingReplies pending, string replyTopic)
    : IRequestTransport
{
    /// <inheritdoc/>
    public TransportDescription Description { get; } = new("kafka", InsteadOfKafka: null, StoresCommands: true, TimesSteps: true);

    /// <inheritdoc/>
    public Task<Reply> SendAsync(Request request, Action? stored = null)
    {
        var (correlationId, reply) = pending.Register(request);
        var topic = Topics.Of(request.Route);
        var (span, since) = (KafkaTracing.StartSend(topic), MessagingMetrics.Now);
        var message = new Message<string, byte[]> { Key = request.Route.AccountId, Value = request.ToCommand(correlationId, replyTopic).ToByteArray(), Headers = WireHeaders.For(span) };
        try
        {
            producers.Begin().Produce(topic, message, report =>
            {
                Sent(topic, since, span, report.Error);
                if (report.Error.IsError)
                {
                    Refuse(correlationId, StatusCode.Unavailable, ErrorReasons.BrokerUnavailable,
                        $"The command could not be published to {report.Topic}: {report.Error.Reason}");
                }
                else
                {
                    stored?.Invoke();
                }
            });
        }
        catch (ProduceException<string, byte[]> e) when (e.Error.Code == ErrorCode.Local_QueueFull)
        {
            Sent(topic, since, span, e.Error);
            Refuse(correlationId, StatusCode.ResourceExhausted, ErrorReasons.TooManyInFlight,
                "The proxy's queue of unsent commands is full.");
        }
        catch (KafkaException e)
        {
            Sent(topic, since, span, e.Error);
            Refuse(correlationId, StatusCode.Unavailable, ErrorReasons.BrokerUnavailable,
                $"The command could not be published to {topic}: {e.Error.Reason}");
        }
        return reply;
    }

    private void Sent(string topic, long since, Activity? span, Confluent.Kafka.Error error)
    {
        producers.End();
        var why = error.IsError ? error.Code.ToString() : null;
        Tracing.End(span, why);
        MessagingMetrics.Sent(topic, since, why);
    }

    private void Refuse(ulong correlationId, StatusCode status, string reason, string message) =>
        pending.Complete(Replies.Error(correlationId, status, reason, message));
}
