using System.Buffers.Binary;
using System.Text;
using Billing.UnitTests.Testing;
using Google.Protobuf;

namespace Billing.UnitTests.Fuzzing;

/// <summary>Frames of HTTP/2 (RFC 9113), as a client sends them.</summary>
internal static class Http2Frames
{
    private const byte Data =
        0, Headers = 1, Priority = 2, Reset = 3, Settings = 4, Ping = 6, GoAway = 7, WindowUpdate = 8, Continuation = 9;
    private const byte EndStream = 1, EndHeaders = 4;
    private const int HeaderBytes = 9;

    private static readonly byte[] Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"u8.ToArray();

    public static IReadOnlyList<string> Words { get; } =
    [
        Encoding.Latin1.GetString(Preface), Text(Frame(Settings, 0, 0)), Text(Frame(Settings, 1, 0)),
        Text(Frame(Ping, 0, 0, new byte[8])), Text(Frame(Reset, 0, 1, new byte[4])),
        Text(Frame(WindowUpdate, 0, 0, [0x7f, 0xff, 0xff, 0xff])), Text(Frame(Continuation, EndHeaders, 1, Fields())),
        Text(Frame(Data, EndStream, 1)), Text(Frame(Data, 8, 1, [255])),
        Text(Frame(Headers, EndHeaders | EndStream, 3, Fields())), Text(Frame(GoAway, 0, 0, new byte[8])),
        Text(Frame(Settings, 0, 0, [0, 4, 0x80, 0, 0, 0])), Text(Frame(Settings, 0, 0, [0, 1, 0xff, 0xff, 0xff, 0xff])),
        // HPACK: the size of the table, an index beyond it, a Huffman string that ends wrongly.
        "\x3f\xe1\x1f", "\xff\xff\xff\xff\x0f", "\x40\x81\xff\x81\xff",
    ];

    /// <summary>Connections with calls, in whole and cut into pieces in every way that the protocol has.</summary>
    public static IReadOnlyList<byte[]> Connections()
    {
        byte[] message = [0, 0, 0, 0, (byte)Samples.Payment().CalculateSize(), .. Samples.Payment().ToByteArray()];
        byte[] start = [.. Preface, .. Frame(Settings, 0, 0), .. Frame(WindowUpdate, 0, 0, [0, 1, 0, 0])];
        var fields = Fields();
        return
        [
            [.. start, .. Frame(Headers, EndHeaders, 1, fields), .. Frame(Data, EndStream, 1, message)],
            [
                .. start, .. Frame(Headers, 0, 1, fields[..10]), .. Frame(Continuation, EndHeaders, 1, fields[10..]),
                .. Frame(Data, 0, 1, message[..7]), .. Frame(Data, EndStream, 1, message[7..]),
            ],
            [
                .. start, .. Frame(Headers, EndHeaders, 1, fields), .. Frame(Headers, EndHeaders, 3, fields),
                .. Frame(Data, EndStream, 3, message), .. Frame(Reset, 0, 1, [0, 0, 0, 8]),
            ],
            [
                .. start, .. Frame(Settings, 1, 0), .. Frame(Ping, 0, 0, new byte[8]),
                .. Frame(Priority, 0, 5, [0, 0, 0, 1, 16]),
                .. Frame(Headers, EndHeaders | 0x28, 1, [0, 0, 0, 0, 0, 5, .. fields]),
                .. Frame(Data, EndStream, 1, message),
            ],
            [
                .. start, .. Frame(Headers, EndHeaders, 1, fields), .. Frame(Data, 0, 1, message),
                .. Frame(Headers, EndHeaders | EndStream, 1, [0, 1, (byte)'x', 1, (byte)'y']),
                .. Frame(GoAway, 0, 0, new byte[8]),
            ],
        ];
    }

    /// <summary>The kinds of frames in what a server sent, and the errors that they name.</summary>
    public static string Kinds(byte[] answered)
    {
        var kinds = new SortedSet<string>(StringComparer.Ordinal);
        for (var at = 0; at + HeaderBytes <= answered.Length;)
        {
            var length = (answered[at] << 16) | (answered[at + 1] << 8) | answered[at + 2];
            var kind = answered[at + 3];
            var error = kind == GoAway && at + HeaderBytes + 8 <= answered.Length ? answered[at + HeaderBytes + 7]
                : kind == Reset && at + HeaderBytes + 4 <= answered.Length ? answered[at + HeaderBytes + 3]
                : 0;
            kinds.Add($"{kind}.{error}");
            at += HeaderBytes + length;
        }
        return string.Join(' ', kinds);
    }

    // Literals without an index, so that no table is needed.
    private static byte[] Fields()
    {
        var fields = new List<byte>();
        foreach (var (name, value) in new[]
        {
            (":method", "POST"), (":scheme", "http"), (":path", "/billing.v1.BillingService/MakePayment"),
            (":authority", "localhost"), ("content-type", "application/grpc"), ("te", "trailers"),
        })
        {
            fields.AddRange(
                [
                    0, (byte)name.Length, .. Encoding.ASCII.GetBytes(name),
                    (byte)value.Length, .. Encoding.ASCII.GetBytes(value),
                ]);
        }
        return [.. fields];
    }

    private static byte[] Frame(byte kind, byte flags, int stream, byte[]? payload = null)
    {
        payload ??= [];
        var frame = new byte[HeaderBytes + payload.Length];
        (frame[0], frame[1], frame[2], frame[3], frame[4]) =
            ((byte)(payload.Length >> 16), (byte)(payload.Length >> 8), (byte)payload.Length, kind, flags);
        BinaryPrimitives.WriteInt32BigEndian(frame.AsSpan(5), stream);
        payload.CopyTo(frame, HeaderBytes);
        return frame;
    }

    private static string Text(byte[] frame) => Encoding.Latin1.GetString(frame);
}
