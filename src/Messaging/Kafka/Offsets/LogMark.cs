using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;

namespace Billing.Messaging.Kafka.Offsets;

/// <summary>What a group's offset says of the log that it belongs to, in the place of the leader's epoch, the only
/// number that brokers keep with an offset: in its upper bits a digest of the topic's id, in the lower ones the epoch
/// of the leader that appended the record before the offset. An offset alone does not tell: a topic of the same name
/// may have been created since, or the brokers may have lost the end of the log and appended other records. Offsets
/// that other programs commit have no mark.</summary>
internal static class LogMark
{
    private const int EpochBits = 16;
    private const int EpochMask = (1 << EpochBits) - 1;
    private const int DigestMax = (1 << 15) - 1;

    // The client compares marks as epochs, and commits none that is smaller than the last: those of one topic are in
    // the order of the epochs, one that has none first, and those that are too large are equal.

    /// <summary>The mark of an offset; null if the topic's id is not known.</summary>
    public static int? Of(string? topicId, int? leaderEpoch) => topicId is null
        ? null
        : (Digest(topicId) << EpochBits) | (int)Math.Min((leaderEpoch ?? -1) + 1L, EpochMask);

    /// <summary>Whether an offset belongs to a topic, as far as its mark tells.</summary>
    public static bool Fits(int? mark, string? topicId) =>
        mark is null or <= EpochMask || topicId is null || mark >> EpochBits == Digest(topicId);

    /// <summary>The epoch in a mark; null if there is none.</summary>
    public static int? EpochOf(int? mark) =>
        mark > EpochMask && (mark & EpochMask) is > 0 and < EpochMask and var next ? next - 1 : null;

    // 15 bits, so that the mark is not negative; and not 0, so that it is not an epoch.
    private static int Digest(string topicId) =>
        1 + (int)(BinaryPrimitives.ReadUInt32BigEndian(SHA256.HashData(Encoding.UTF8.GetBytes(topicId))) % DigestMax);
}
