using System.Globalization;
using System.Text;
using Billing.Contracts;
using Confluent.Kafka;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Kafka;

/// <summary>Puts records that cannot be processed aside, as they came, with their origin and the reason in headers, so
/// that they block nothing and can be looked at and replayed.</summary>
public sealed class DeadLetters(IProducer<string, byte[]> producer, TimeProvider time, ILogger logger)
{
    /// <summary>What the names of the headers below begin with.</summary>
    public const string HeaderPrefix = "billing-dead-";

    /// <summary>Header with the reason, for a person.</summary>
    public const string ReasonHeader = HeaderPrefix + "reason";

    /// <summary>Header with the topic the record came from.</summary>
    public const string TopicHeader = HeaderPrefix + "topic";

    /// <summary>Header with the partition the record came from.</summary>
    public const string PartitionHeader = HeaderPrefix + "partition";

    /// <summary>Header with the record's offset there.</summary>
    public const string OffsetHeader = HeaderPrefix + "offset";

    /// <summary>Header with the record's key, where that is not text and so cannot be the dead letter's.</summary>
    public const string KeyHeader = HeaderPrefix + "key";

    /// <summary>Header with the bytes that the value had, where the brokers take no record of that size and the value was
    /// cut.</summary>
    public const string TruncatedHeader = HeaderPrefix + "truncated";

    private const int ReasonLengthMax = 2000;

    // Far below what any broker refuses, and enough to see what it was.
    private const int CutBytesMax = 64 * 1024;

    private static readonly TimeSpan RetryDelay = TimeSpan.FromMilliseconds(250);

    /// <summary>How much of a record is put aside; each form is smaller than the one before.</summary>
    private enum Form
    {
        Whole,
        Cut,
        OriginOnly,
    }

    /// <summary>Publishes a dead letter. A record that is too large for the brokers with its further headers is cut: its
    /// reason and origin are worth more than the end of its value.</summary>
    /// <param name="record">The record; its value may be null.</param>
    /// <param name="reason">Why it cannot be processed.</param>
    /// <param name="settle">Called when the broker has acknowledged the dead letter.</param>
    public void Publish(ConsumeResult<byte[], byte[]> record, string reason, Action settle)
    {
        KafkaLog.DeadLetter(logger, record.Topic, record.Partition.Value, record.Offset.Value, reason);
        Send(record, reason, Form.Whole, settle);
    }

    private void Send(ConsumeResult<byte[], byte[]> record, string reason, Form form, Action settle)
    {
        try
        {
            producer.Produce(
                Topics.DeadLetters, Letter(record, reason, form), report => Acknowledge(report.Error, record, reason, form, settle));
        }
        catch (ProduceException<string, byte[]> e)
        {
            // What the client refuses on its own, such as a record above its own limit, it does not report but throw.
            Acknowledge(e.Error, record, reason, form, settle);
        }
    }

    private void Acknowledge(
        Error error, ConsumeResult<byte[], byte[]> record, string reason, Form form, Action settle)
    {
        if (!error.IsError)
        {
            settle();
        }
        else if (error.IsTooLarge() && form != Form.OriginOnly)
        {
            KafkaLog.DeadLetterCut(logger, record.Topic, record.Partition.Value, record.Offset.Value, error.Reason);
            Send(record, reason, form + 1, settle);
        }
        else if (!error.IsFatal)
        {
            KafkaLog.SendingAgain(logger, Topics.DeadLetters, error.Reason);
            _ = SendLaterAsync(record, reason, form, settle);
        }
    }

    private async Task SendLaterAsync(ConsumeResult<byte[], byte[]> record, string reason, Form form, Action settle)
    {
        await Task.Delay(RetryDelay, time);
        try
        {
            Send(record, reason, form, settle);
        }
        catch (ObjectDisposedException)
        {
            // The process ends; the record is not settled, and whoever reads it next puts it aside.
        }
    }

    private static Message<string, byte[]> Letter(ConsumeResult<byte[], byte[]> record, string reason, Form form)
    {
        var original = record.Message;
        var letter = new Message<string, byte[]> { Key = null!, Value = original.Value, Headers = [] };
        if (form == Form.OriginOnly)
        {
            letter.Value = [];
        }
        else
        {
            AddOriginalHeaders(letter.Headers, original, form);
            AddKey(letter, original.Key, form);
            if (form == Form.Cut && original.Value is { Length: > CutBytesMax } value)
            {
                letter.Value = value[..CutBytesMax];
            }
        }
        letter.Headers.Add(ReasonHeader, Encoding.UTF8.GetBytes(reason.Length <= ReasonLengthMax ? reason : reason[..ReasonLengthMax] + "..."));
        letter.Headers.Add(TopicHeader, Encoding.UTF8.GetBytes(record.Topic));
        letter.Headers.Add(PartitionHeader, Number(record.Partition.Value));
        letter.Headers.Add(OffsetHeader, Number(record.Offset.Value));
        if (form != Form.Whole)
        {
            letter.Headers.Add(TruncatedHeader, Number(original.Value?.Length ?? 0));
        }
        return letter;
    }

    /// <summary>A record that was dead before, and was replayed, does not keep what was said of it then.</summary>
    private static void AddOriginalHeaders(Headers headers, Message<byte[], byte[]> original, Form form)
    {
        var left = form == Form.Whole ? long.MaxValue : CutBytesMax;
        foreach (var header in original.Headers ?? [])
        {
            var value = header.GetValueBytes();
            left -= Encoding.UTF8.GetByteCount(header.Key) + (value?.Length ?? 0);
            if (left >= 0 && !header.Key.StartsWith(HeaderPrefix, StringComparison.Ordinal))
            {
                headers.Add(header.Key, value);
            }
        }
    }

    private static void AddKey(Message<string, byte[]> letter, byte[]? key, Form form)
    {
        if (key is null || (form != Form.Whole && key.Length > CutBytesMax))
        {
            return;
        }
        letter.Key = Encoding.UTF8.GetString(key);
        if (!Encoding.UTF8.GetBytes(letter.Key).AsSpan().SequenceEqual(key))
        {
            letter.Headers.Add(KeyHeader, key);
        }
    }

    private static byte[] Number(long value) => Encoding.ASCII.GetBytes(value.ToString(CultureInfo.InvariantCulture));
}
