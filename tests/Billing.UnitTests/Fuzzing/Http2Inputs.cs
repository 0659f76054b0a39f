using System.Text;
using Billing.Misuse.Frames;
using Billing.UnitTests.Testing;
using Google.Protobuf;

namespace Billing.UnitTests.Fuzzing;

/// <summary>Connections of HTTP/2 to change, and what their answers show.</summary>
internal static class Http2Inputs
{
    private const byte EndStream = Http2Frames.EndStream, EndHeaders = Http2Frames.EndHeaders;

    public static IReadOnlyList<string> Words { get; } =
    [
        Encoding.Latin1.GetString(Http2Frames.Preface), Text(Frame(FrameKind.Settings, 0, 0)),
        Text(Frame(FrameKind.Settings, 1, 0)),
        Text(Frame(FrameKind.Ping, 0, 0, new byte[8])), Text(Frame(FrameKind.Reset, 0, 1, new byte[4])),
        Text(Frame(FrameKind.WindowUpdate, 0, 0, [0x7f, 0xff, 0xff, 0xff])),
        Text(Frame(FrameKind.Continuation, EndHeaders, 1, Fields())),
        Text(Frame(FrameKind.Data, EndStream, 1)), Text(Frame(FrameKind.Data, Http2Frames.Padded, 1, [255])),
        Text(Frame(FrameKind.Headers, EndHeaders | EndStream, 3, Fields())),
        Text(Frame(FrameKind.GoAway, 0, 0, new byte[8])),
        Text(Frame(FrameKind.Settings, 0, 0, [0, 4, 0x80, 0, 0, 0])),
        Text(Frame(FrameKind.Settings, 0, 0, [0, 1, 0xff, 0xff, 0xff, 0xff])),
        // HPACK: the size of the table, an index beyond it, a Huffman string that ends wrongly.
        "\x3f\xe1\x1f", "\xff\xff\xff\xff\x0f", "\x40\x81\xff\x81\xff",
    ];

    /// <summary>Connections with calls, in whole and cut into pieces in every way that the protocol has.</summary>
    public static IReadOnlyList<byte[]> Connections()
    {
        byte[] message = [0, 0, 0, 0, (byte)Samples.Payment().CalculateSize(), .. Samples.Payment().ToByteArray()];
        byte[] start =
        [
            .. Http2Frames.Preface, .. Frame(FrameKind.Settings, 0, 0), .. Http2Frames.WindowUpdate(0, 0x10000),
        ];
        var fields = Fields();
        return
        [
            [
                .. start, .. Frame(FrameKind.Headers, EndHeaders, 1, fields),
                .. Frame(FrameKind.Data, EndStream, 1, message),
            ],
            [
                .. start, .. Frame(FrameKind.Headers, 0, 1, fields[..10]),
                .. Frame(FrameKind.Continuation, EndHeaders, 1, fields[10..]),
                .. Frame(FrameKind.Data, 0, 1, message[..7]), .. Frame(FrameKind.Data, EndStream, 1, message[7..]),
            ],
            [
                .. start, .. Frame(FrameKind.Headers, EndHeaders, 1, fields),
                .. Frame(FrameKind.Headers, EndHeaders, 3, fields),
                .. Frame(FrameKind.Data, EndStream, 3, message), .. Http2Frames.Reset(1, 8),
            ],
            [
                .. start, .. Frame(FrameKind.Settings, 1, 0), .. Frame(FrameKind.Ping, 0, 0, new byte[8]),
                .. Frame(FrameKind.Priority, 0, 5, [0, 0, 0, 1, 16]),
                .. Frame(FrameKind.Headers, EndHeaders | 0x28, 1, [0, 0, 0, 0, 0, 5, .. fields]),
                .. Frame(FrameKind.Data, EndStream, 1, message),
            ],
            [
                .. start, .. Frame(FrameKind.Headers, EndHeaders, 1, fields), .. Frame(FrameKind.Data, 0, 1, message),
                .. Frame(FrameKind.Headers, EndHeaders | EndStream, 1, [0, 1, (byte)'x', 1, (byte)'y']),
                .. Frame(FrameKind.GoAway, 0, 0, new byte[8]),
            ],
        ];
    }

    /// <summary>The kinds of frames in what a server sent, and the errors that they name.</summary>
    public static string Kinds(byte[] answered)
    {
        const int HeaderBytes = Http2Frames.HeaderBytes;
        var kinds = new SortedSet<string>(StringComparer.Ordinal);
        for (var at = 0; at + HeaderBytes <= answered.Length;)
        {
            var length = (answered[at] << 16) | (answered[at + 1] << 8) | answered[at + 2];
            var kind = answered[at + 3];
            var error = kind == (byte)FrameKind.GoAway && at + HeaderBytes + 8 <= answered.Length
                ? answered[at + HeaderBytes + 7]
                : kind == (byte)FrameKind.Reset && at + HeaderBytes + 4 <= answered.Length
                    ? answered[at + HeaderBytes + 3]
                    : 0;
            kinds.Add($"{kind}.{error}");
            at += HeaderBytes + length;
        }
        return string.Join(' ', kinds);
    }

    private static byte[] Fields() => Http2Frames.Fields(
        (":method", "POST"), (":scheme", "http"), (":path", "/billing.v1.BillingService/MakePayment"),
        (":authority", "localhost"), ("content-type", "application/grpc"), ("te", "trailers"));

    private static byte[] Frame(FrameKind kind, byte flags, int stream, byte[]? payload = null) =>
        Http2Frames.Frame(kind, flags, stream, payload);

    private static string Text(byte[] frame) => Encoding.Latin1.GetString(frame);
}
