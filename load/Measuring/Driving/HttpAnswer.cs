using System.Buffers;
using System.Buffers.Text;
using System.Text;

namespace Billing.Measuring.Driving;

/// <summary>One HTTP/1.1 answer, as far as measuring needs it.</summary>
/// <param name="Status">The status code.</param>
/// <param name="IsDecline">Whether its body speaks of a declined payment.</param>
internal readonly record struct HttpAnswer(int Status, bool IsDecline)
{
    private static ReadOnlySpan<byte> EndOfHead => "\r\n\r\n"u8;

    private static ReadOnlySpan<byte> EndOfLine => "\r\n"u8;

    /// <summary>Takes one whole answer from the front of a buffer.</summary>
    /// <param name="buffer">What was received; on success it begins after the answer.</param>
    /// <param name="answer">The answer.</param>
    /// <returns>False while the answer is not all there.</returns>
    /// <exception cref="InvalidDataException">This is no HTTP/1.1 answer with a body of stated length.</exception>
    public static bool TryRead(ref ReadOnlySequence<byte> buffer, out HttpAnswer answer)
    {
        answer = default;
        var reader = new SequenceReader<byte>(buffer);
        if (!reader.TryReadTo(out ReadOnlySequence<byte> headBytes, EndOfHead))
        {
            return false;
        }
        var head = headBytes.IsSingleSegment ? headBytes.FirstSpan : headBytes.ToArray();
        var status = StatusOf(head);
        if (!TryReadBody(ref reader, head, status, out var body))
        {
            return false;
        }
        answer = new HttpAnswer(status, Contains(body, "DECLINED"u8));
        buffer = buffer.Slice(reader.Position);
        return true;
    }

    private static bool TryReadBody(ref SequenceReader<byte> reader, ReadOnlySpan<byte> head, int status, out ReadOnlySequence<byte> body)
    {
        body = default;
        if (status is 204 or 304)
        {
            return true;
        }
        if (Header(head, "content-length"u8) is { Length: > 0 } stated)
        {
            if (!Utf8Parser.TryParse(stated, out int length, out _) || length < 0)
            {
                throw new InvalidDataException($"a Content-Length that is no length: {Encoding.ASCII.GetString(stated)}");
            }
            return reader.TryReadExact(length, out body);
        }
        return Contains(Header(head, "transfer-encoding"u8), "chunked"u8)
            ? TryReadChunks(ref reader, out body)
            : throw new InvalidDataException("an answer without a length");
    }

    /// <summary>The first chunk stands for the body: what is looked for is at its beginning.</summary>
    private static bool TryReadChunks(ref SequenceReader<byte> reader, out ReadOnlySequence<byte> body)
    {
        body = default;
        for (var first = true; ; first = false)
        {
            if (!reader.TryReadTo(out ReadOnlySequence<byte> line, EndOfLine))
            {
                return false;
            }
            if (!Utf8Parser.TryParse(line.ToArray(), out int length, out _, 'x') || length < 0)
            {
                throw new InvalidDataException("a chunk without a length");
            }
            if (!reader.TryReadExact(length, out var chunk) || !reader.TryReadExact(EndOfLine.Length, out _))
            {
                return false;
            }
            if (length == 0)
            {
                return true;
            }
            body = first ? chunk : body;
        }
    }

    private static int StatusOf(ReadOnlySpan<byte> head) =>
        head.StartsWith("HTTP/1.1 "u8) && Utf8Parser.TryParse(head["HTTP/1.1 ".Length..], out int status, out _)
            ? status
            : throw new InvalidDataException("no HTTP/1.1 answer");

    private static ReadOnlySpan<byte> Header(ReadOnlySpan<byte> head, ReadOnlySpan<byte> name)
    {
        for (var end = head.IndexOf(EndOfLine); end >= 0; end = head.IndexOf(EndOfLine))
        {
            head = head[(end + EndOfLine.Length)..];
            if (head.Length > name.Length && head[name.Length] == ':' && Ascii.EqualsIgnoreCase(head[..name.Length], name))
            {
                var value = head[(name.Length + 1)..];
                var valueEnd = value.IndexOf(EndOfLine);
                return (valueEnd < 0 ? value : value[..valueEnd]).Trim((byte)' ');
            }
        }
        return default;
    }

    private static bool Contains(ReadOnlySequence<byte> text, ReadOnlySpan<byte> part) =>
        Contains(text.IsSingleSegment ? text.FirstSpan : text.ToArray(), part);

    private static bool Contains(ReadOnlySpan<byte> text, ReadOnlySpan<byte> part) => text.IndexOf(part) >= 0;
}
