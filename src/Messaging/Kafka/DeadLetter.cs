using System.Globalization;
using System.Text;
using Confluent.Kafka;

namespace Billing.Messaging.Kafka;

/// <summary>A record that was put aside.</summary>
public sealed record DeadLetter
{
    /// <summary>Where it is in the dead-letter topic.</summary>
    public required DeadLetterId Id { get; init; }

    /// <summary>When it was put aside.</summary>
    public required DateTimeOffset At { get; init; }

    /// <summary>Why, for a person; empty where the record does not say.</summary>
    public required string Reason { get; init; }

    /// <summary>The topic it came from; empty where the record does not say.</summary>
    public required string Topic { get; init; }

    /// <summary>The partition it came from, as the record says.</summary>
    public required string Partition { get; init; }

    /// <summary>Its offset there, as the record says.</summary>
    public required string Offset { get; init; }

    /// <summary>The original key; null where it had none.</summary>
    public required byte[]? Key { get; init; }

    /// <summary>The original bytes, or the first of them where <see cref="TruncatedFrom"/> says so; null where it had none.
    /// </summary>
    public required byte[]? Value { get; init; }

    /// <summary>The original headers, in order.</summary>
    public required IReadOnlyList<KeyValuePair<string, byte[]?>> Headers { get; init; }

    /// <summary>The bytes that the value had before it was cut to fit; null where it is whole.</summary>
    public required long? TruncatedFrom { get; init; }

    /// <summary>The dead letter that this record was replayed from before it died again; null where it was not.</summary>
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
            Reason = Text(headers, DeadLetters.ReasonHeader),
            Topic = Text(headers, DeadLetters.TopicHeader),
            Partition = Text(headers, DeadLetters.PartitionHeader),
            Offset = Text(headers, DeadLetters.OffsetHeader),
            Key = headers.LastOrDefault(h => h.Key == DeadLetters.KeyHeader).Value ?? record.Message.Key,
            Value = record.Message.Value,
            Headers = [.. headers.Where(h => !h.Key.StartsWith(DeadLetters.HeaderPrefix, StringComparison.Ordinal))],
            TruncatedFrom = long.TryParse(
                Text(headers, DeadLetters.TruncatedHeader), NumberStyles.None, CultureInfo.InvariantCulture, out var bytes)
                ? bytes
                : null,
        };
    }

    private static string Text(List<KeyValuePair<string, byte[]?>> headers, string name) =>
        Encoding.UTF8.GetString(headers.LastOrDefault(h => h.Key == name).Value ?? []);
}

/// <summary>Names a dead letter by its place in the dead-letter topic.</summary>
/// <param name="Partition">The partition.</param>
/// <param name="Offset">The offset in it.</param>
public readonly record struct DeadLetterId(int Partition, long Offset)
{
    /// <summary>Reads <c>partition:offset</c>, or just the offset in partition 0, the only one unless somebody made the
    /// topic with more.</summary>
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
