using System.Globalization;
using System.Text;
using Confluent.Kafka;

namespace Billing.Messaging.Kafka.DeadLetters;

/// <summary>A record that was sent to the dead letters, with its origin and the reason.</summary>
public sealed record DeadLetter
{
    /// <summary>Its partition and offset in the dead-letter topic.</summary>
    public required DeadLetterId Id { get; init; }

    /// <summary>When it was sent to the dead letters.</summary>
    public required DateTimeOffset At { get; init; }

    /// <summary>The reason, as text for people; empty if the record has no such header.</summary>
    public required string Reason { get; init; }

    /// <summary>The original topic; empty if the record has no such header.</summary>
    public required string Topic { get; init; }

    /// <summary>The original partition; empty if the record has no such header.</summary>
    public required string Partition { get; init; }

    /// <summary>The offset in the original partition; empty if the record has no such header.</summary>
    public required string Offset { get; init; }

    /// <summary>The original key; null if there was none.</summary>
    public required byte[]? Key { get; init; }

    /// <summary>The original value; only its first bytes if <see cref="TruncatedFrom"/> is set; null if there was none.
    /// </summary>
    public required byte[]? Value { get; init; }

    /// <summary>The original headers, in order.</summary>
    public required IReadOnlyList<KeyValuePair<string, byte[]?>> Headers { get; init; }

    /// <summary>The size of the original value in bytes, if it was truncated; otherwise null.</summary>
    public required long? TruncatedFrom { get; init; }

    /// <summary>The earlier dead letter that this record was replayed from, before it was rejected again; null if it was not
    /// replayed.</summary>
    public string? ReplayedFrom => Headers.LastOrDefault(h => h.Key == DeadLetterReplay.ReplayedFromHeader).Value is { } id
        ? Encoding.UTF8.GetString(id)
        : null;

    internal static DeadLetter Of(ConsumeResult<byte[], byte[]> record)
    {
        var headers = (record.Message.Headers ?? [])
            .Select(h => KeyValuePair.Create(h.Key, (byte[]?)h.GetValueBytes())).ToList();
        return new DeadLetter
        {
            Id = new DeadLetterId(record.Partition.Value, record.Offset.Value),
            At = new DateTimeOffset(record.Message.Timestamp.UtcDateTime, TimeSpan.Zero),
            Reason = Text(headers, DeadLetterPublisher.ReasonHeader),
            Topic = Text(headers, DeadLetterPublisher.TopicHeader),
            Partition = Text(headers, DeadLetterPublisher.PartitionHeader),
            Offset = Text(headers, DeadLetterPublisher.OffsetHeader),
            Key = headers.LastOrDefault(h => h.Key == DeadLetterPublisher.KeyHeader).Value ?? record.Message.Key,
            Value = record.Message.Value,
            Headers = [.. headers.Where(h => !h.Key.StartsWith(DeadLetterPublisher.HeaderPrefix, StringComparison.Ordinal))],
            TruncatedFrom = long.TryParse(
                Text(headers, DeadLetterPublisher.TruncatedHeader), NumberStyles.None, CultureInfo.InvariantCulture, out var bytes)
                ? bytes
                : null,
        };
    }

    private static string Text(List<KeyValuePair<string, byte[]?>> headers, string name) =>
        Encoding.UTF8.GetString(headers.LastOrDefault(h => h.Key == name).Value ?? []);
}

/// <summary>Identifies a dead letter by its partition and offset in the dead-letter topic.</summary>
/// <param name="Partition">The partition.</param>
/// <param name="Offset">The offset in it.</param>
public readonly record struct DeadLetterId(int Partition, long Offset)
{
    /// <summary>Parses <c>partition:offset</c>, or only an offset for partition 0, the only partition unless the topic was
    /// created by hand with more.</summary>
    public static bool TryParse(string text, out DeadLetterId id)
    {
        var colon = text.IndexOf(':', StringComparison.Ordinal);
        var partition = 0;
        var isId = (colon < 0 || int.TryParse(text.AsSpan(0, colon), NumberStyles.None, CultureInfo.InvariantCulture, out partition))
            & long.TryParse(text.AsSpan(colon + 1), NumberStyles.None, CultureInfo.InvariantCulture, out var offset);
        id = new DeadLetterId(partition, offset);
        return isId;
    }

    /// <inheritdoc/>
    public override string ToString() => Partition == 0
        ? Offset.ToString(CultureInfo.InvariantCulture)
        : string.Create(CultureInfo.InvariantCulture, $"{Partition}:{Offset}");
}
