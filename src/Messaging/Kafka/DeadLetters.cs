using System.Globalization;
using System.Text;
using Billing.Contracts;
using Confluent.Kafka;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Kafka;

/// <summary>Puts records that cannot be processed aside, as they came, with their origin and the reason in headers, so
/// that they block nothing and can be looked at and replayed.</summary>
public sealed class DeadLetters(IProducer<string, byte[]> producer, ILogger logger)
{
    /// <summary>Header with the reason, for a person.</summary>
    public const string ReasonHeader = "billing-dead-reason";

    /// <summary>Header with the topic the record came from.</summary>
    public const string TopicHeader = "billing-dead-topic";

    /// <summary>Header with the partition the record came from.</summary>
    public const string PartitionHeader = "billing-dead-partition";

    /// <summary>Header with the record's offset there.</summary>
    public const string OffsetHeader = "billing-dead-offset";

    /// <summary>Publishes a dead letter.</summary>
    /// <param name="record">The record; its value may be null.</param>
    /// <param name="reason">Why it cannot be processed.</param>
    /// <param name="settle">Called when the broker has acknowledged the dead letter.</param>
    public void Publish(ConsumeResult<byte[], byte[]> record, string reason, Action settle)
    {
        KafkaLog.DeadLetter(logger, record.Topic, record.Partition.Value, record.Offset.Value, reason);
        var headers = new Headers();
        foreach (var header in record.Message.Headers ?? [])
        {
            headers.Add(header.Key, header.GetValueBytes());
        }
        headers.Add(ReasonHeader, Encoding.UTF8.GetBytes(reason));
        headers.Add(TopicHeader, Encoding.UTF8.GetBytes(record.Topic));
        headers.Add(PartitionHeader, Number(record.Partition.Value));
        headers.Add(OffsetHeader, Number(record.Offset.Value));
        var letter = new Message<string, byte[]>
        {
            Key = Encoding.UTF8.GetString(record.Message.Key ?? []),
            Value = record.Message.Value ?? [],
            Headers = headers,
        };
        Send(letter, settle);
    }

    private void Send(Message<string, byte[]> letter, Action settle) =>
        producer.Produce(Topics.DeadLetters, letter, report =>
        {
            if (!report.Error.IsError)
            {
                settle();
            }
            else if (!report.Error.IsFatal)
            {
                KafkaLog.SendingAgain(logger, Topics.DeadLetters, report.Error.Reason);
                Send(letter, settle);
            }
        });

    private static byte[] Number(long value) => Encoding.ASCII.GetBytes(value.ToString(CultureInfo.InvariantCulture));
}
