using System.Text;
using Billing.Hosting;
using Billing.Messaging;
using Billing.Messaging.Kafka.DeadLetters;
using Billing.Wire.V1;
using Google.Protobuf;

namespace Billing.Operator.DeadLetters;

/// <summary>Dead letters as text. Their content is untrusted: only printable characters of it reach the
/// terminal.</summary>
internal static class DeadLetterText
{
    private const int DumpBytesMax = 2048;
    private const int DumpWidth = 16;
    private const int ShownMax = 256;

    private static readonly UTF8Encoding Strict = new(
        encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);
    private static readonly JsonFormatter Json = new(JsonFormatter.Settings.Default.WithIndentation());

    /// <summary>Returns bytes as text if they are printable UTF-8, otherwise in hexadecimal;
    /// of long values only the first bytes.</summary>
    public static string OfBytes(byte[]? bytes)
    {
        if (bytes is null)
        {
            return "none";
        }
        if (bytes.Length > ShownMax)
        {
            return $"0x{Convert.ToHexStringLower(bytes[..ShownMax])}... ({bytes.Length} bytes)";
        }
        try
        {
            var text = Strict.GetString(bytes);
            return !UntrustedText.IsPrintable(text) ? "0x" + Convert.ToHexStringLower(bytes) : text;
        }
        catch (DecoderFallbackException)
        {
            return "0x" + Convert.ToHexStringLower(bytes);
        }
    }

    /// <summary>Returns the original position of a dead letter, as <c>topic[partition]@offset</c>.</summary>
    public static string Origin(DeadLetter letter) =>
        letter.Topic.Length == 0
            ? "unknown"
            : UntrustedText.Printable($"{letter.Topic}[{letter.Partition}]@{letter.Offset}");

    public static string Size(DeadLetter letter) => letter.TruncatedFrom is { } whole
        ? $"{whole} (cut to {letter.Value?.Length ?? 0})"
        : (letter.Value?.Length ?? 0).ToString();

    public static string Time(DeadLetter letter) => letter.At.ToString("yyyy-MM-dd HH:mm:ss.fff'Z'");

    /// <summary>Decodes the value to JSON if it is a message of the type that its topic carries.</summary>
    public static bool TryDecode(DeadLetter letter, out string text)
    {
        try
        {
            IMessage message = letter.Topic == Topics.Events
                ? Event.Parser.ParseFrom(letter.Value ?? [])
                : Command.Parser.ParseFrom(letter.Value ?? []);
            text = $"{message.Descriptor.Name} {Json.Format(message)}";
            return true;
        }
        catch (Exception e) when (e is InvalidProtocolBufferException or InvalidOperationException)
        {
            // The second for values that the wire format allows and JSON does not, such as half of a surrogate pair.
            text = e.Message;
            return false;
        }
    }

    /// <summary>Returns the first bytes in hexadecimal and as text, sixteen bytes per line.</summary>
    public static IEnumerable<string> Dump(byte[] value)
    {
        for (var start = 0; start < Math.Min(value.Length, DumpBytesMax); start += DumpWidth)
        {
            var row = value.AsSpan(start, Math.Min(DumpWidth, value.Length - start));
            var line = new StringBuilder();
            line.Append($"{start:x8}  ");
            for (var i = 0; i < DumpWidth; i++)
            {
                line.Append(i < row.Length ? row[i].ToString("x2") : "  ");
                line.Append(i == (DumpWidth / 2) - 1 ? "  " : " ");
            }
            line.Append(" |");
            foreach (var b in row)
            {
                line.Append(b is >= 0x20 and < 0x7f ? (char)b : '.');
            }
            yield return line.Append('|').ToString();
        }
        if (value.Length > DumpBytesMax)
        {
            yield return $"... and {value.Length - DumpBytesMax} more bytes (--raw FILE writes all bytes)";
        }
    }
}
