using System.Globalization;
using System.Text;
using Billing.Messaging.Kafka.Clients;
using Confluent.Kafka;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Kafka.DeadLetters;

/// <summary>Publishes records that cannot be processed to the dead-letter topic, unchanged, with their origin and the
/// reason in headers, so that they do not block other records and can be inspected and replayed.</summary>
public sealed class DeadLetterPublisher(IProducer<string, byte[]> producer, TimeProvider time, ILogger logger)
{
    /// <summary>The prefix of the names of the headers below.</summary>
    public const string HeaderPrefix = "billing-dead-";

    /// <summary>Header with the reason, as text for people.</summary>
    public const string ReasonHeader = HeaderPrefix + "reason";

    /// <summary>Header with the record's original topic.</summary>
    public const string TopicHeader = HeaderPrefix + "topic";

    /// <summary>Header with the record's original partition.</summary>
    public const string PartitionHeader = HeaderPrefix + "partition";

    /// <summary>Header with the record's offset in the original partition.</summary>
    public const string OffsetHeader = HeaderPrefix + "offset";

    /// <summary>Header with the record's key, if it is not valid UTF-8 and therefore cannot be the key
    /// of the dead letter.</summary>
    public const string KeyHeader = HeaderPrefix + "key";

    /// <summary>Header with the size of the original value in bytes, if the brokers accept no record of that size and
    /// the value was truncated.</summary>
    public const string TruncatedHeader = HeaderPrefix + "truncated";

    private const int ReasonLengthMax = 2000;

    // Far below the size limit of any broker, and enough to recognise the record.
    private const int CutBytesMax = 64 * 1024;

    // The producer publishes the events, too, which must find room in it; and it copies to memory outside the heap.
    private const long BytesMax = 8 << 20;

    private static readonly TimeSpan RetryDelayMax = TimeSpan.FromSeconds(30);

    // An error that lasts for longer needs somebody who looks at it.
    private const int AttemptsUnsaid = 3;

    private volatile string? _refusal;
    private long _bytes;

    /// <summary>The part of a record that is published; each form is smaller than the one before.</summary>
    private enum Form
    {
        Whole,
        Cut,
        OriginOnly,
    }

    /// <summary>Why dead letters cannot be written, as text without a full stop; null if they can.
    /// The records wait, and so do the offsets of their partitions.</summary>
    public string? NotReadyReason => _refusal;

    /// <summary>Publishes a dead letter. A record that is too large for the brokers together with the added headers is
    /// truncated, because its reason and origin are more useful than the end of its value.</summary>
    /// <param name="record">The record; its value may be null.</param>
    /// <param name="reason">Why it cannot be processed.</param>
    /// <param name="settle">Called when the broker has acknowledged the dead letter.</param>
    internal void Publish(ConsumeResult<byte[], byte[]> record, string reason, Action settle)
    {
        KafkaLog.DeadLetter(logger, record.Topic, record.Partition.Value, record.Offset.Value, reason);
        Send(record, reason, Form.Whole, settle, attempt: 1);
    }

    private void Send(ConsumeResult<byte[], byte[]> record, string reason, Form form, Action settle, int attempt)
    {
        var letter = Letter(record, reason, form);
        var size = letter.Value?.Length ?? 0;
        // One that is larger is sent alone.
        if (Interlocked.Add(ref _bytes, size) is var bytes && bytes > BytesMax && bytes > size)
        {
            End(new Error(ErrorCode.Local_QueueFull));
            return;
        }
        try
        {
            producer.Produce(Topics.DeadLetters, letter, report => End(report.Error));
        }
        catch (ProduceException<string, byte[]> e)
        {
            // Errors of the client itself, such as a record above its own size limit, are thrown and not reported.
            End(e.Error);
        }

        void End(Error error)
        {
            Interlocked.Add(ref _bytes, -size);
            Acknowledge(error, record, reason, form, settle, attempt);
        }
    }

    private void Acknowledge(
        Error error, ConsumeResult<byte[], byte[]> record, string reason, Form form, Action settle, int attempt)
    {
        if (!error.IsError)
        {
            _refusal = null;
            settle();
        }
        else if (error.IsTooLarge() && form != Form.OriginOnly)
        {
            KafkaLog.DeadLetterCut(logger, record.Topic, record.Partition.Value, record.Offset.Value, error.Reason);
            Send(record, reason, form + 1, settle, attempt);
        }
        else if (!error.IsFatal)
        {
            KafkaLog.SendingAgain(logger, Topics.DeadLetters, error.Explained());
            if (attempt >= AttemptsUnsaid)
            {
                _refusal = $"the topic {Topics.DeadLetters} cannot be written to: {error.Explained()}";
            }
            _ = SendLaterAsync(record, reason, form, settle, attempt);
        }
    }

    private async Task SendLaterAsync(
        ConsumeResult<byte[], byte[]> record, string reason, Form form, Action settle, int attempt)
    {
        var wait = KafkaTimes.SendAgain * Math.Pow(2, Math.Min(attempt - 1, 10));
        await Task.Delay(wait < RetryDelayMax ? wait : RetryDelayMax, time);
        try
        {
            Send(record, reason, form, settle, attempt + 1);
        }
        catch (ObjectDisposedException)
        {
            // The process ends. The record is not settled; the next owner of its partition sends it to
            // the dead letters.
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
        letter.Headers.Add(
            ReasonHeader,
            Encoding.UTF8.GetBytes(reason.Length <= ReasonLengthMax ? reason : reason[..ReasonLengthMax] + "..."));
        letter.Headers.Add(TopicHeader, Encoding.UTF8.GetBytes(record.Topic));
        letter.Headers.Add(PartitionHeader, Number(record.Partition.Value));
        letter.Headers.Add(OffsetHeader, Number(record.Offset.Value));
        if (form != Form.Whole)
        {
            letter.Headers.Add(TruncatedHeader, Number(original.Value?.Length ?? 0));
        }
        return letter;
    }

    /// <summary>Adds the original headers, without the dead-letter headers of a record that
    /// was replayed before.</summary>
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
