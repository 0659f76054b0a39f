using System.Globalization;
using System.Text;
using Confluent.Kafka;

namespace Billing.Messaging.Kafka.DeadLetters;

/// <summary>A record that was sent to the dead letters, with its origin and the reason, each empty if the record has
/// no header with it.</summary>
/// <param name="Id">Its partition and offset in the dead-letter topic.</param>
/// <param name="At">When it was sent to the dead letters.</param>
/// <param name="Reason">The reason, as text for people.</param>
/// <param name="Topic">The original topic.</param>
/// <param name="Partition">The original partition.</param>
/// <param name="Offset">The offset in the original partition.</param>
/// <param name="Key">The original key; null if there was none.</param>
/// <param name="Value">The original value; only its first bytes if it was truncated; null if there was none.</param>
/// <param name="Headers">The original headers, in order.</param>
/// <param name="TruncatedFrom">The size of the original value in bytes, if it was truncated; otherwise null.</param>
public sealed record DeadLetter(
    DeadLetterId Id, DateTimeOffset At, string Reason, string Topic, string Partition, string Offset, byte[]? Key,
    byte[]? Value, IReadOnlyList<KeyValuePair<string, byte[]?>> Headers, long? TruncatedFrom)
{
    private static readonly long TimeMaxMs = DateTimeOffset.MaxValue.ToUnixTimeMilliseconds();

    /// <summary>The earlier dead letter that this record was replayed from, before it was rejected again;
    /// null if it was not replayed.</summary>
    public string? ReplayedFrom =>
        Headers.LastOrDefault(h => h.Key == DeadLetterReplay.ReplayedFromHeader).Value is { } id
            ? Encoding.UTF8.GetString(id)
            : null;

    internal static DeadLetter Of(ConsumeResult<byte[], byte[]> record)
    {
        var headers = (record.Message.Headers ?? [])
            .Select(h => KeyValuePair.Create(h.Key, (byte[]?)h.GetValueBytes())).ToList();
        return new DeadLetter(
            Id: new DeadLetterId(record.Partition.Value, record.Offset.Value),
            // Whoever writes a record decides its time, within what the brokers allow.
            At: DateTimeOffset.FromUnixTimeMilliseconds(
                Math.Clamp(record.Message.Timestamp.UnixTimestampMs, 0, TimeMaxMs)),
            Reason: Text(headers, DeadLetterPublisher.ReasonHeader),
            Topic: Text(headers, DeadLetterPublisher.TopicHeader),
            Partition: Text(headers, DeadLetterPublisher.PartitionHeader),
            Offset: Text(headers, DeadLetterPublisher.OffsetHeader),
            Key: headers.LastOrDefault(h => h.Key == DeadLetterPublisher.KeyHeader).Value ?? record.Message.Key,
            Value: record.Message.Value,
            Headers:
            [
                .. headers.Where(h => !h.Key.StartsWith(DeadLetterPublisher.HeaderPrefix, StringComparison.Ordinal)),
            ],
            TruncatedFrom: long.TryParse(
                Text(headers, DeadLetterPublisher.TruncatedHeader), NumberStyles.None,
                CultureInfo.InvariantCulture, out var bytes)
                ? bytes
                : null);
    }

    private static string Text(List<KeyValuePair<string, byte[]?>> headers, string name) =>
        Encoding.UTF8.GetString(headers.LastOrDefault(h => h.Key == name).Value ?? []);
}

/// <summary>Identifies a dead letter by its partition and offset in the dead-letter topic.</summary>
/// <param name="Partition">The partition.</param>
/// <param name="Offset">The offset in it.</param>
public readonly record struct DeadLetterId(int Partition, long Offset)
{
    /// <summary>Parses <c>partition:offset</c>, or only an offset for partition 0, the only partition unless the topic
    /// was created by hand with more.</summary>
    public static bool TryParse(string text, out DeadLetterId id)
    {
        var colon = text.IndexOf(':', StringComparison.Ordinal);
        var partition = 0;
        var isId = (colon < 0
            || int.TryParse(text.AsSpan(0, colon), NumberStyles.None, CultureInfo.InvariantCulture, out partition))
            & long.TryParse(text.AsSpan(colon + 1), NumberStyles.None, CultureInfo.InvariantCulture, out var offset);
        id = new DeadLetterId(partition, offset);
        return isId;
    }

    /// <inheritdoc/>
    public override string ToString() => Partition == 0
        ? Offset.ToString(CultureInfo.InvariantCulture)
        : string.Create(CultureInfo.InvariantCulture, $"{Partition}:{Offset}");
}
