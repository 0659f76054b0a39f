using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Billing.Wire.V1;

namespace Billing.Messaging;

/// <summary>The ids of events. They name an event and not its place, and are the same however often it is
/// published.</summary>
public static class EventIds
{
    private const int HalfOfGuid = 8;

    /// <summary>The id under which the event store holds the event of a command, and at most one. Its first half is
    /// that of the transaction id, so that ids in the order of time (UUID version 7) make events whose ids are; the
    /// second is a hash of both.</summary>
    /// <param name="transactionId">The command's idempotency key.</param>
    /// <param name="streamId">The stream of the account that it was sent for.</param>
    public static Guid Of(Guid transactionId, string streamId)
    {
        Span<byte> id = stackalloc byte[2 * HalfOfGuid];
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        var length = Encoding.UTF8.GetByteCount(streamId);
        var both = length <= 240 ? stackalloc byte[256] : new byte[length + id.Length];
        transactionId.TryWriteBytes(id, bigEndian: true, out _);
        id.CopyTo(both);
        Encoding.UTF8.GetBytes(streamId, both[id.Length..]);
        SHA256.HashData(both[..(id.Length + length)], hash);
        hash[..HalfOfGuid].CopyTo(id[HalfOfGuid..]);
        // The variant of RFC 9562.
        id[HalfOfGuid] = (byte)((id[HalfOfGuid] & 0x3F) | 0x80);
        return new Guid(id, bigEndian: true);
    }

    /// <summary>The id of a published event. A command whose event was lost by a restore may be recorded again,
    /// in another place and with another outcome: that is another event, and its incarnation tells.</summary>
    /// <exception cref="FormatException">Its transaction id is not a UUID.</exception>
    public static Guid Of(Event recorded) => Of(
        Guid.Parse(recorded.TransactionId),
        recorded.Incarnation == 0
            ? recorded.StreamId
            : string.Create(CultureInfo.InvariantCulture, $"{recorded.StreamId}\n{recorded.Incarnation}"));
}
