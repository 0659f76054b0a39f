#if !NET9_0_OR_GREATER
using System.Buffers.Binary;
#endif

namespace Billing.Client;

/// <summary>New ids, which order by time: UUIDs of version 7.</summary>
internal static class OrderedId
{
#if NET9_0_OR_GREATER
    public static Guid New() => Guid.CreateVersion7();
#else
    // As RFC 9562 lays it out: milliseconds, version, random bits, variant, random bits.
    public static Guid New()
    {
        Span<byte> bytes = stackalloc byte[16];
        Guid.NewGuid().TryWriteBytes(bytes, bigEndian: true, out _);
        var version = (ushort)(0x7000 | (BinaryPrimitives.ReadUInt16BigEndian(bytes[6..]) & 0x0fff));
        BinaryPrimitives.WriteInt64BigEndian(bytes, TimeProvider.System.GetUtcNow().ToUnixTimeMilliseconds() << 16);
        BinaryPrimitives.WriteUInt16BigEndian(bytes[6..], version);
        return new Guid(bytes, bigEndian: true);
    }
#endif
}
