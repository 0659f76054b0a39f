using System.Buffers.Binary;

namespace Billing.Messaging.Rpcx.Wire;

/// <summary>What a frame is.</summary>
internal enum FrameKind : byte
{
    /// <summary>Not a frame.</summary>
    None,

    /// <summary>Client, first: <see cref="Greeting"/>.</summary>
    Hello,

    /// <summary>Server, first: RpcxWelcome.</summary>
    Welcome,

    /// <summary>Client: RpcxMethodNames, the numbers of further methods.</summary>
    Names,

    /// <summary>Client: the request of a call.</summary>
    Request,

    /// <summary>Client: nobody waits for this call any more. No payload.</summary>
    Cancel,

    /// <summary>Server: the reply to a call.</summary>
    Reply,

    /// <summary>Server: a call failed; or, with call id 0, the connection did, and ends. Payload: Error.</summary>
    Error,

    /// <summary>Server: it will take no further calls of this connection. No payload.</summary>
    GoAway,
}

/// <summary>The 24 bytes in front of every payload, little-endian: length of the payload (u32), kind (u8), zero (u8), method
/// number (u16), call id (u64), microseconds left to the deadline (u64, 0 for none). Time left, not a time of day, so the
/// clocks of the two ends need not agree.</summary>
internal readonly record struct FrameHeader(
    FrameKind Kind, ulong CallId = 0, ushort Method = 0, ulong MicrosecondsLeft = 0, int Length = 0)
{
    public const int Bytes = 24;

    /// <summary>Writes the header.</summary>
    /// <param name="to">At least <see cref="Bytes"/> long.</param>
    /// <param name="length">The payload's length.</param>
    public void Write(Span<byte> to, int length)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(to[16..], MicrosecondsLeft);
        BinaryPrimitives.WriteUInt64LittleEndian(to[8..], CallId);
        BinaryPrimitives.WriteUInt16LittleEndian(to[6..], Method);
        to[5] = 0;
        to[4] = (byte)Kind;
        BinaryPrimitives.WriteInt32LittleEndian(to, length);
    }

    /// <summary>Reads a header.</summary>
    /// <param name="from">At least <see cref="Bytes"/> long.</param>
    /// <param name="lengthMax">The longest payload taken.</param>
    /// <exception cref="ProtocolException">It is none, or its payload is too long.</exception>
    public static FrameHeader Read(ReadOnlySpan<byte> from, int lengthMax)
    {
        var kind = from[4];
        if (kind is < (byte)FrameKind.Hello or > (byte)FrameKind.GoAway || from[5] != 0)
        {
            throw new ProtocolException($"byte 4 of a frame is {kind}, which is no kind of frame");
        }
        var length = BinaryPrimitives.ReadUInt32LittleEndian(from);
        if (length > lengthMax)
        {
            throw new ProtocolException($"a frame of {length} bytes is above FrameBytesMax, {lengthMax}");
        }
        return new FrameHeader(
            (FrameKind)kind,
            BinaryPrimitives.ReadUInt64LittleEndian(from[8..]),
            BinaryPrimitives.ReadUInt16LittleEndian(from[6..]),
            BinaryPrimitives.ReadUInt64LittleEndian(from[16..]),
            (int)length);
    }
}
