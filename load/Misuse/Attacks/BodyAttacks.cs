using Billing.Misuse.Connections;
using Billing.Misuse.Frames;
using static Billing.Misuse.Attacks.Parts;
using static Billing.Misuse.Attacks.Steps;

namespace Billing.Misuse.Attacks;

/// <summary>Attacks with the bodies of requests.</summary>
internal static class BodyAttacks
{
    // Of messages that are as large as a proxy takes.
    private const int Said = 16_300;
    private const int Sent = 16_000;

    private static readonly Layout[] Lines = [new(20, 1), new(1000, 1)];

    /// <summary>All of them.</summary>
    public static IReadOnlyList<Attack> All { get; } =
    [
        new("body-unfinished", Phase.Bodies, "16,000 of 16,300 bytes, and then nothing")
        {
            LayoutsOfHttp1 = Lines,
            Http2 = Sequence(Begin, Each(AskWithoutEnd(requests => requests.Sized(Said, Sent))), Hold),
            Http1 = Sequence(Read, Send(connection => Begun(connection, Said, Sent)), Hold),
        },
        new("body-barely-begun", Phase.Bodies, "a few of the bytes that were said, and then nothing")
        {
            LayoutsOfHttp1 = Lines,
            Http2 = Sequence(
                Begin, Each((connection, end) => AskWithoutEnd(requests => requests.Sized(
                    (uint)connection.Random.Next(200, Said), connection.Random.Next(0, 200)))(connection, end)),
                Hold),
            Http1 = Sequence(Read, Send(connection => Begun(connection, Said, connection.Random.Next(1, 200))), Hold),
        },
        new("body-dripped", Phase.Bodies, "byte by byte, on each stream in turn")
        {
            LayoutsOfHttp1 = Lines,
            Http2 = Sequence(
                Begin, Each(AskWithoutEnd(requests => requests.Sized(Said, 0))),
                Repeat(Round((connection, end) => connection.SendDataAsync(" "u8.ToArray(), false, end)), 2)),
            Http1 = Sequence(
                Read, Send(connection => Begun(connection, Said, 1)), Repeat(Text(_ => " "), 2)),
        },
        new("body-larger", Phase.Bodies, "more bytes than were said")
        {
            Http2 = Sequence(Begin, Each(Ask(requests => requests.Sized(10, 30_000)))),
            Http1 = Sequence(Read, Each(Send(connection => Begun(connection, 10, 30_000)))),
        },
        new("body-gigabytes", Phase.Bodies, "said to have two gigabytes, and sent as fast as it is taken")
        {
            Layouts = [new(1, 10), new(20, 10)],
            Http2 = Sequence(
                Begin, Each(AskWithoutEnd(requests => requests.Sized(int.MaxValue, 0))),
                Repeat(Round((connection, end) => connection.SendDataAsync(new byte[16_384], false, end)))),
            Http1 = Sequence(
                Read, Send(connection => Begun(connection, int.MaxValue, 0)), Repeat(Send(_ => new byte[16_384]))),
        },
        new("body-in-tiny-chunks", Phase.Bodies, "without a length, in chunks or frames of one byte")
        {
            Layouts = [new(1, 10), new(20, 10)],
            Http2 = Sequence(
                Begin, Each(AskWithoutEnd(requests => requests.Sized(Said, 0))),
                Repeat(Round((connection, end) => connection.SendDataAsync(" "u8.ToArray(), false, end)))),
            Http1 = Sequence(
                Read, Text(connection => connection.Requests.Head(connection.Requests.Payment(), null) + "\r\n"),
                Repeat(Text(_ => "1\r\n \r\n"))),
        },
        new("body-long-chunk-lines", Phase.Bodies, "chunks whose lines have extensions without end")
        {
            Layouts = Lines,
            Http1 = Sequence(
                Read, Text(connection => connection.Requests.Head(connection.Requests.Payment(), null) + "\r\n1"),
                Repeat(Text(_ => ";x=y"))),
        },
        new("body-expected", Phase.Bodies, "ask whether the body may come, and send none")
        {
            Layouts = Lines,
            Http1 = Sequence(
                Read, Text(connection => connection.Requests.Head(
                    connection.Requests.Payment(), 100, ("Expect", "100-continue")) + "\r\n"),
                Hold),
        },
        new("body-empty-frames", Phase.Bodies, "DATA frames with nothing in them")
        {
            Layouts = [new(1, 10), new(20, 10)],
            Http2 = Sequence(
                Begin, Each(AskWithoutEnd(requests => requests.Sized(Said, 0))),
                Repeat(Round(Send(connection => Http2Frames.Frame(FrameKind.Data, 0, connection.StreamId))))),
        },
        new("body-of-padding", Phase.Bodies, "DATA frames with nothing but padding, as many as the windows allow")
        {
            Layouts = [new(1, 10), new(20, 10)],
            Http2 = Sequence(
                Begin, Each(AskWithoutEnd(requests => requests.Sized(Said, 0))),
                Repeat(Round(SendPaddingAsync))),
        },
        new("body-compressed", Phase.Bodies, "said to be compressed")
        {
            Http2 = Sequence(Begin, Each(Ask(requests =>
            {
                var request = requests.Payment();
                request.Body[0] = 1;
                return request;
            }))),
            Http1 = Sequence(Read, Each(Text(connection => connection.Requests.Head(
                connection.Requests.Payment(), 5, ("Content-Encoding", "gzip")) + "\r\nabcde"))),
        },
    ];

    private static byte[] Begun(HostileConnection connection, int said, int sent) =>
    [
        .. System.Text.Encoding.ASCII.GetBytes(
            connection.Requests.Head(connection.Requests.Payment(), said) + "\r\n"),
        .. Enumerable.Repeat((byte)' ', sent),
    ];

    // Padding counts in the windows as data does (RFC 9113, section 6.1).
    private static async Task SendPaddingAsync(HostileConnection connection, CancellationToken end)
    {
        const int Padding = 255;
        if (await connection.TakeWindowAsync(Padding + 1, end))
        {
            await connection.SendAsync(
                Http2Frames.Frame(
                    FrameKind.Data, Http2Frames.Padded, connection.StreamId, [Padding, .. new byte[Padding]]),
                end);
        }
    }
}
