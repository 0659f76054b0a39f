using System.Buffers;
using System.IO.Pipelines;
using System.Net.Sockets;
using Google.Protobuf;

namespace Billing.Rpc.Rpcx.Wire;

/// <summary>Reads frames from the bytes received so far.</summary>
internal static class FrameReader
{
    private const int SegmentBytes = 32 << 10;

    /// <summary>Returns the input of a connection.</summary>
    public static PipeReader Over(NetworkStream stream) =>
        PipeReader.Create(stream, new StreamPipeReaderOptions(bufferSize: SegmentBytes));

    /// <summary>Waits for the first frame of a connection.</summary>
    /// <returns>What <paramref name="parse"/> returns; the payload exists only during that call.</returns>
    /// <exception cref="ProtocolException">The input does not begin with a valid header, or the payload is too long.</exception>
    /// <exception cref="EndOfStreamException">The other end has closed the connection.</exception>
    public static async Task<T> ReadFirstAsync<T>(
        PipeReader input, int lengthMax, Func<FrameHeader, ReadOnlySequence<byte>, T> parse, CancellationToken cancellationToken)
    {
        while (true)
        {
            var read = await input.ReadAsync(cancellationToken);
            var unread = read.Buffer;
            if (TryRead(ref unread, lengthMax, out var header, out var payload))
            {
                var content = parse(header, payload);
                input.AdvanceTo(unread.Start);
                return content;
            }
            input.AdvanceTo(unread.Start, unread.End);
            if (read.IsCompleted)
            {
                throw new EndOfStreamException("the other end closed the connection instead of greeting");
            }
        }
    }

    /// <summary>Reads the first frame if it has been received completely, and advances the input past it; the payload is a part of
    /// the input.</summary>
    /// <exception cref="ProtocolException">The input does not begin with a valid header, or the payload is too long. It is
    /// thrown as soon as the header is available.</exception>
    public static bool TryRead(
        ref ReadOnlySequence<byte> input, int lengthMax, out FrameHeader header, out ReadOnlySequence<byte> payload)
    {
        payload = default;
        if (!TryReadHeader(input, lengthMax, out header) || input.Length - FrameHeader.Bytes < header.Length)
        {
            return false;
        }
        payload = input.Slice(FrameHeader.Bytes, header.Length);
        input = input.Slice(payload.End);
        return true;
    }

    /// <summary>Parses a request or a reply.</summary>
    /// <exception cref="InvalidProtocolBufferException">The payload is not such a message.</exception>
    public static T Parse<T>(MessageParser<T> parser, in ReadOnlySequence<byte> payload)
        where T : IMessage<T> =>
        payload.IsSingleSegment ? parser.ParseFrom(payload.FirstSpan) : parser.ParseFrom(payload);

    /// <summary>Parses a message of the protocol itself.</summary>
    /// <exception cref="ProtocolException">The payload is not such a message.</exception>
    public static T ParseOwn<T>(MessageParser<T> parser, in ReadOnlySequence<byte> payload)
        where T : IMessage<T>
    {
        try
        {
            return Parse(parser, payload);
        }
        catch (InvalidProtocolBufferException e)
        {
            throw new ProtocolException($"a frame does not contain a valid {typeof(T).Name}: {e.Message}");
        }
    }

    private static bool TryReadHeader(in ReadOnlySequence<byte> input, int lengthMax, out FrameHeader header)
    {
        if (input.Length < FrameHeader.Bytes)
        {
            header = default;
            return false;
        }
        if (input.FirstSpan.Length >= FrameHeader.Bytes)
        {
            header = FrameHeader.Read(input.FirstSpan, lengthMax);
            return true;
        }
        Span<byte> bytes = stackalloc byte[FrameHeader.Bytes];
        input.Slice(0, FrameHeader.Bytes).CopyTo(bytes);
        header = FrameHeader.Read(bytes, lengthMax);
        return true;
    }
}
