using System.Buffers;
using System.Buffers.Binary;
using System.IO.Pipelines;
using System.Net.Sockets;
using Google.Protobuf;

namespace Billing.Rpc.Rpcx;

/// <summary>The kind of a frame.</summary>
internal enum FrameKind : byte
{
    /// <summary>Invalid.</summary>
    None,

    /// <summary>From the client: the request of a call.</summary>
    Request,

    /// <summary>From the server: the reply to a call.</summary>
    Reply,

    /// <summary>From the server: a call failed. Payload: Error.</summary>
    Error,
}

/// <summary>The other end violated the protocol; its connection is closed.</summary>
internal sealed class ProtocolException(string message) : Exception(message);

/// <summary>The 20 bytes in front of every payload, little-endian: length of the payload (u32), kind (u8),
/// version of the protocol (u8), zero (u16), method number (u32, of requests), call id (u64).</summary>
internal readonly record struct FrameHeader(FrameKind Kind, ulong CallId, uint Method = 0, int Length = 0)
{
    public const int Bytes = 20;

    /// <summary>The longest payload, in bytes.</summary>
    public const int PayloadMax = 4 << 20;

    private const byte Version = 1;

    public void Write(Span<byte> to)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(to[12..], CallId);
        BinaryPrimitives.WriteUInt32LittleEndian(to[8..], Method);
        BinaryPrimitives.WriteUInt32LittleEndian(to[4..], (uint)Kind | (Version << 8));
        BinaryPrimitives.WriteInt32LittleEndian(to, Length);
    }

    /// <exception cref="ProtocolException">The header is invalid, or the payload is too long.</exception>
    public static FrameHeader Read(ReadOnlySpan<byte> from)
    {
        var kind = BinaryPrimitives.ReadUInt32LittleEndian(from[4..]) ^ (Version << 8);
        var length = BinaryPrimitives.ReadUInt32LittleEndian(from);
        return kind is 0 or > (uint)FrameKind.Error
            ? throw new ProtocolException($"{Convert.ToHexString(from[4..8])} is no kind of frame of version {Version}")
            : length > PayloadMax ? throw new ProtocolException(
                $"a frame of {length} bytes is longer than {PayloadMax}")
            : new FrameHeader(
                (FrameKind)kind, BinaryPrimitives.ReadUInt64LittleEndian(from[12..]),
                BinaryPrimitives.ReadUInt32LittleEndian(from[8..]), (int)length);
    }
}

/// <summary>Reads frames.</summary>
internal static class FrameReader
{
    private const int SegmentBytes = 32 << 10;

    /// <summary>Reads frames until the other end closes the connection.</summary>
    /// <param name="socket">The connection.</param>
    /// <param name="take">Takes a frame, whose payload exists until it returns.</param>
    /// <param name="pause">Is called before each wait for more bytes.</param>
    /// <exception cref="ProtocolException">The other end violated the protocol.</exception>
    /// <exception cref="IOException">The connection is lost.</exception>
    public static async Task ReadAllAsync(
        Socket socket, Func<FrameHeader, ReadOnlySequence<byte>, ValueTask> take, Action pause)
    {
        var input = PipeReader.Create(new NetworkStream(socket), new StreamPipeReaderOptions(bufferSize: SegmentBytes));
        try
        {
            while (true)
            {
                var read = await input.ReadAsync();
                var unread = read.Buffer;
                while (TryRead(ref unread, out var header, out var payload))
                {
                    await take(header, payload);
                }
                input.AdvanceTo(unread.Start, unread.End);
                if (read.IsCompleted)
                {
                    return;
                }
                pause();
            }
        }
        finally
        {
            await input.CompleteAsync();
        }
    }

    /// <summary>Reads the first frame if it has been received completely, and advances the input past it;
    /// the payload is a part of the input.</summary>
    /// <exception cref="ProtocolException">The input does not begin with a valid header.</exception>
    public static bool TryRead(
        ref ReadOnlySequence<byte> input, out FrameHeader header, out ReadOnlySequence<byte> payload)
    {
        (header, payload) = (default, default);
        if (input.Length < FrameHeader.Bytes)
        {
            return false;
        }
        Span<byte> bytes = stackalloc byte[FrameHeader.Bytes];
        input.Slice(0, FrameHeader.Bytes).CopyTo(bytes);
        header = FrameHeader.Read(bytes);
        if (input.Length - FrameHeader.Bytes < header.Length)
        {
            return false;
        }
        payload = input.Slice(FrameHeader.Bytes, header.Length);
        input = input.Slice(payload.End);
        return true;
    }

    /// <summary>Parses a payload.</summary>
    /// <exception cref="InvalidProtocolBufferException">It is not such a message.</exception>
    public static T Parse<T>(MessageParser<T> parser, in ReadOnlySequence<byte> payload)
        where T : IMessage<T> =>
        payload.IsSingleSegment ? parser.ParseFrom(payload.FirstSpan) : parser.ParseFrom(payload);
}
