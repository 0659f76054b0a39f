using System.Buffers.Binary;

namespace Billing.Rpc.Rpcx.Wire;

/// <summary>The kind of a frame.</summary>
internal enum FrameKind : byte
{
    /// <summary>Invalid.</summary>
    None,

    /// <summary>Sent first by the client: <see cref="Greeting"/>.</summary>
    Hello,

    /// <summary>Sent first by the server: RpcxWelcome.</summary>
    Welcome,

    /// <summary>From the client: RpcxMethodNames, the numbers of further methods.</summary>
    Names,

    /// <summary>From the client: the request of a call.</summary>
    Request,

    /// <summary>From the client: the call is cancelled. No payload.</summary>
    Cancel,

    /// <summary>From the server: the reply to a call.</summary>
    Reply,

    /// <summary>From the server: a call failed; with call id 0, the connection failed and is closed. Payload: Error.</summary>
    Error,

    /// <summary>From the server: it accepts no further calls on this connection. No payload.</summary>
    GoAway,
}

/// <summary>The 24 bytes in front of every payload, little-endian: length of the payload (u32), kind (u8), zero (u8), method
/// number (u16), call id (u64), microseconds left to the deadline (u64, 0 for none). It is a duration, so that the
/// clocks of the two ends need not be synchronised.</summary>
internal readonly record struct FrameHeader(
    FrameKind Kind, ulong CallId = 0, ushort Method = 0, ulong MicrosecondsLeft = 0, int Length = 0)
{
    public const int Bytes = 24;

    /// <summary>Writes the header of a payload with this length.</summary>
    public void Write(Span<byte> to, int length)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(to[16..], MicrosecondsLeft);
        BinaryPrimitives.WriteUInt64LittleEndian(to[8..], CallId);
        BinaryPrimitives.WriteUInt16LittleEndian(to[6..], Method);
        to[5] = 0;
        to[4] = (byte)Kind;
        BinaryPrimitives.WriteInt32LittleEndian(to, length);
    }

    /// <exception cref="ProtocolException">The header is invalid, or the payload is too long.</exception>
    public static FrameHeader Read(ReadOnlySpan<byte> from, int lengthMax)
    {
        var kind = from[4];
        if (kind is < (byte)FrameKind.Hello or > (byte)FrameKind.GoAway || from[5] != 0)
        {
            throw new ProtocolException($"byte 4 of a frame is {kind}, which is not a valid frame kind");
        }
        var length = BinaryPrimitives.ReadUInt32LittleEndian(from);
        if (length > lengthMax)
        {
            throw new ProtocolException($"a frame of {length} bytes is larger than FrameBytesMax, {lengthMax}");
        }
        return new FrameHeader(
            (FrameKind)kind,
            BinaryPrimitives.ReadUInt64LittleEndian(from[8..]),
            BinaryPrimitives.ReadUInt16LittleEndian(from[6..]),
            BinaryPrimitives.ReadUInt64LittleEndian(from[16..]),
            (int)length);
    }
}
