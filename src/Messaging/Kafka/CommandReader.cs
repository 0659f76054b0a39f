using System.Diagnostics;
using Billing.Contracts;
using Billing.Hosting.Telemetry;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.DeadLetters;
using Billing.Messaging.Telemetry;
using Billing.Wire.V1;
using Confluent.Kafka;
using Grpc.Core;

namespace Billing.Messaging.Kafka;

/// <summary>Converts records to deliveries. An unreadable or invalid record is sent to the dead letters, and its
/// sender, if the record names one, receives an error.</summary>
internal sealed class CommandReader(KafkaAnswerPublisher publisher, TimeProvider time)
{
    /// <summary>Returns the delivery, or null if the record was sent to the dead letters;
    /// the slot is then settled when the dead letter is acknowledged.</summary>
    public Delivery? Read(
        ConsumeResult<byte[], byte[]> record, OffsetWatermark.Slot slot, PartitionAssignment assignment)
    {
        var span = KafkaTracing.StartProcess(record);
        if (WireFormat.TryReadCommand(record.Message.Value, record.WireVersion(), out var command, out var refusal))
        {
            refusal = WireFormat.RoutingError(command!, record.Topic, record.Message.Key);
        }
        if (refusal is null)
        {
            var appended = AppendedUnixUs(record.Message.Timestamp);
            return new KafkaDelivery(command!, record, slot, assignment, publisher.DeadLetters)
            {
                Bytes = record.Message.Value.Length,
                Processing = span,
                AppendedUnixUs = appended,
                DeadlineUnixUs = CommandDeadline.Of(command!, appended, time),
            };
        }
        var before = Activity.Current;
        try
        {
            // Log entries about the record, and its reply, belong to its trace.
            Activity.Current = span ?? before;
            Refuse(record, command, refusal, slot);
        }
        finally
        {
            Activity.Current = before;
        }
        Tracing.End(span, "refused");
        return null;
    }

    private void Refuse(
        ConsumeResult<byte[], byte[]> record, Command? command, string refusal, OffsetWatermark.Slot slot)
    {
        MessagingMetrics.CountDeadLetter(record.Topic, "refused");
        publisher.DeadLetters.Publish(record, refusal, slot.Settle);
        if (command is not null && Topics.IsReplyTopic(command.ProxyTopic))
        {
            var reply = Replies.Error(
                command.CorrelationId, StatusCode.Internal,
                ErrorReasons.ProcessingFailed, "The command was refused: " + refusal);
            _ = publisher.PublishAsync([new Answer(command.ProxyTopic, reply)], [], CancellationToken.None);
        }
    }

    private static long AppendedUnixUs(Timestamp timestamp) =>
        timestamp.Type == TimestampType.NotAvailable ? 0 : timestamp.UnixTimestampMs * 1000;

    private sealed class KafkaDelivery(
        Command command, ConsumeResult<byte[], byte[]> record, OffsetWatermark.Slot slot,
        PartitionAssignment assignment, DeadLetterPublisher deadLetters)
        : Delivery(command, assignment)
    {
        private long _since = slot.ReadAt;

        public override void Settle()
        {
            slot.Settle();
            Done(null);
        }

        public override void Abandon()
        {
            base.Abandon();
            slot.Leave();
        }

        public override void Reject(string reason)
        {
            MessagingMetrics.CountDeadLetter(record.Topic, "unprocessable");
            deadLetters.Publish(record, reason, slot.Settle);
            Done("unprocessable");
        }

        private void Done(string? error)
        {
            EndProcessing(error);
            // Counted once, even if the command is settled more than once.
            MessagingMetrics.Processed(record.Topic, Interlocked.Exchange(ref _since, 0));
        }
    }
}
