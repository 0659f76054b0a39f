using System.Buffers;
using Google.Protobuf;

namespace Billing.Rpc.Rpcx.Wire;

/// <summary>Reads frames from the bytes received so far.</summary>
internal static class FrameReader
{
    /// <summary>Reads the first frame if it has been received completely.</summary>
    /// <param name="input">The bytes; on success advanced past the frame.</param>
    /// <param name="lengthMax">The maximum length of a payload.</param>
    /// <param name="header">The frame's header.</param>
    /// <param name="payload">The frame's payload, a part of the input.</param>
    /// <returns>Whether a complete frame was available.</returns>
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

    /// <summary>Parses a payload as a message.</summary>
    /// <exception cref="InvalidProtocolBufferException">The payload is not such a message.</exception>
    public static T Parse<T>(MessageParser<T> parser, in ReadOnlySequence<byte> payload)
        where T : IMessage<T> =>
        payload.IsSingleSegment ? parser.ParseFrom(payload.FirstSpan) : parser.ParseFrom(payload);

    private static bool TryReadHeader(in ReadOnlySequence<byte> input, int lengthMax, out FrameHeader header)
    {
        if (input.FirstSpan.Length >= FrameHeader.Bytes)
        {
            header = FrameHeader.Read(input.FirstSpan, lengthMax);
            return true;
        }
        if (input.Length < FrameHeader.Bytes)
        {
            header = default;
            return false;
        }
        Span<byte> bytes = stackalloc byte[FrameHeader.Bytes];
        input.Slice(0, FrameHeader.Bytes).CopyTo(bytes);
        header = FrameHeader.Read(bytes, lengthMax);
        return true;
    }
}
