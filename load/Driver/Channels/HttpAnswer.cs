using System.Buffers;
using System.Buffers.Text;
using System.Text;

namespace Billing.Driver.Channels;

/// <summary>An HTTP/1.1 response.</summary>
/// <param name="Status">The status code.</param>
/// <param name="Error">Why there is no response; empty if there is one.</param>
internal readonly record struct HttpAnswer(int Status, byte[] Body, string Error = "")
{
    private static ReadOnlySpan<byte> EndOfHead => "\r\n\r\n"u8;

    private static ReadOnlySpan<byte> EndOfLine => "\r\n"u8;

    public static HttpAnswer Failed(string error) => new(0, [], error);

    /// <summary>Reads one complete response from the beginning of a buffer.</summary>
    /// <param name="buffer">The received bytes; on success it begins after the response.</param>
    /// <param name="answer">The response.</param>
    /// <returns>False while the response is incomplete.</returns>
    /// <exception cref="InvalidDataException">The bytes are not an HTTP/1.1 response with a body
    /// of stated length.</exception>
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
        answer = new HttpAnswer(status, body.ToArray());
        buffer = buffer.Slice(reader.Position);
        return true;
    }

    private static bool TryReadBody(
        ref SequenceReader<byte> reader, ReadOnlySpan<byte> head, int status, out ReadOnlySequence<byte> body)
    {
        body = default;
        if (status is 204 or 304)
        {
            return true;
        }
        if (Header(head, "content-length"u8) is { Length: > 0 } text)
        {
            if (!Utf8Parser.TryParse(text, out int length, out _) || length < 0)
            {
                throw new InvalidDataException($"invalid Content-Length: {Encoding.ASCII.GetString(text)}");
            }
            return reader.TryReadExact(length, out body);
        }
        return Contains(Header(head, "transfer-encoding"u8), "chunked"u8)
            ? TryReadChunks(ref reader, out body)
            : throw new InvalidDataException("response without a length");
    }

    /// <summary>Reads a chunked body and returns its first chunk only: the proxy writes an answer at once.</summary>
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
                throw new InvalidDataException("chunk without a length");
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
            : throw new InvalidDataException("not an HTTP/1.1 response");

    private static ReadOnlySpan<byte> Header(ReadOnlySpan<byte> head, ReadOnlySpan<byte> name)
    {
        for (var end = head.IndexOf(EndOfLine); end >= 0; end = head.IndexOf(EndOfLine))
        {
            head = head[(end + EndOfLine.Length)..];
            if (head.Length > name.Length && head[name.Length] == ':'
                && Ascii.EqualsIgnoreCase(head[..name.Length], name))
            {
                var value = head[(name.Length + 1)..];
                var valueEnd = value.IndexOf(EndOfLine);
                return (valueEnd < 0 ? value : value[..valueEnd]).Trim((byte)' ');
            }
        }
        return default;
    }

    private static bool Contains(ReadOnlySpan<byte> text, ReadOnlySpan<byte> part) => text.IndexOf(part) >= 0;
}
