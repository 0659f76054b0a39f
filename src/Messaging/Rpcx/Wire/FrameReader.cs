using System.Buffers;
using Google.Protobuf;

namespace Billing.Messaging.Rpcx.Wire;

/// <summary>Takes frames off the bytes received so far.</summary>
internal static class FrameReader
{
    /// <summary>Takes the first frame, if all of it is there.</summary>
    /// <param name="input">The bytes; on success moved behind the frame.</param>
    /// <param name="lengthMax">The longest payload taken.</param>
    /// <param name="header">The frame's header.</param>
    /// <param name="payload">The frame's payload, a part of the input.</param>
    /// <returns>Whether a whole frame was there.</returns>
    /// <exception cref="ProtocolException">The input does not begin with a frame, or with one whose payload is too long;
    /// said as soon as the header is there.</exception>
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

    /// <summary>Reads a message that fills a payload.</summary>
    /// <exception cref="InvalidProtocolBufferException">It is no such message.</exception>
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
