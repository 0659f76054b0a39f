using System.Security.Cryptography;
using System.Text;

namespace Billing.Backends.EventStore;

/// <summary>What a command is known by, however often it comes: a transaction id belongs to the account that it was sent for, and means
/// something else for another account.</summary>
/// <param name="TransactionId">The idempotency key.</param>
/// <param name="StreamId">The account's stream.</param>
public readonly record struct CommandId(Guid TransactionId, string StreamId)
{
    private const int HalfOfGuid = 8;

    /// <summary>The id under which the event store holds the event of this command, and at most one. Its first half is that of the
    /// transaction id, so that ids in the order of time (UUID version 7) make events whose ids are; the second is a hash of
    /// both.</summary>
    public Guid EventId
    {
        get
        {
            Span<byte> id = stackalloc byte[2 * HalfOfGuid];
            Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
            var length = Encoding.UTF8.GetByteCount(StreamId);
            var both = length <= 240 ? stackalloc byte[256] : new byte[length + id.Length];
            TransactionId.TryWriteBytes(id, bigEndian: true, out _);
            id.CopyTo(both);
            Encoding.UTF8.GetBytes(StreamId, both[id.Length..]);
            SHA256.HashData(both[..(id.Length + length)], hash);
            hash[..HalfOfGuid].CopyTo(id[HalfOfGuid..]);
            // The variant of RFC 9562.
            id[HalfOfGuid] = (byte)((id[HalfOfGuid] & 0x3F) | 0x80);
            return new Guid(id, bigEndian: true);
        }
    }
}
