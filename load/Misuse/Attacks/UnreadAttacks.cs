using Billing.Misuse.Frames;
using static Billing.Misuse.Attacks.Parts;
using static Billing.Misuse.Attacks.Steps;

namespace Billing.Misuse.Attacks;

/// <summary>Attacks whose answers are not read, or hardly.</summary>
internal static class UnreadAttacks
{
    private static readonly Connections.Layout[] Statements = [new(1, 400), new(1, 1000), new(20, 100), new(200, 10)];

    /// <summary>All of them.</summary>
    public static IReadOnlyList<Attack> All { get; } =
    [
        new("unread-statements", Phase.Unread, "statements of a long account, in windows of 0 bytes")
        {
            Layouts = Statements,
            Http2 = Sequence(BeginWith(0), Each(Ask(requests => requests.Statement())), Hold),
            Http1 = Sequence(Each(AskInText(requests => requests.Statement())), Hold),
            ReceivesLittle = true,
        },
        new("unread-statements-with-pings", Phase.Unread, "the same, and a PING each second")
        {
            Layouts = Statements,
            Http2 = Sequence(BeginWith(0), Each(Ask(requests => requests.Statement())), Repeat(SendPing, 1)),
        },
        new("unread-statements-by-bytes", Phase.Unread, "statements in windows that grow by a byte a second")
        {
            Layouts = Statements,
            Http2 = Sequence(
                BeginWith(1), Each(Ask(requests => requests.Statement())),
                Repeat(Round(Send(connection => Http2Frames.WindowUpdate(connection.StreamId, 1))), 1)),
        },
        new("unread-pages", Phase.Unread, "single pages of the statement of a long account, in windows of 0 bytes")
        {
            Layouts = Statements,
            Http2 = Sequence(BeginWith(0), Each(Ask(requests => requests.Page())), Hold),
        },
        new("unread-by-system", Phase.Unread, "statements in large windows, of which the system takes nothing")
        {
            Layouts = Statements,
            ReceivesLittle = true,
            Http2 = Sequence(SendBeginning(int.MaxValue), Each(AskWithoutReading), Hold),
        },
        new("unread-payments", Phase.Unread, "bulk streams of payments whose answers are not taken")
        {
            IsGrpcOnly = true,
            Layouts = [new(1, 100), new(20, 100)],
            Http2 = Sequence(
                BeginWith(0), Each(AskWithoutEnd(requests => requests.Payments())),
                Repeat(Round((connection, end) => connection.SendDataAsync(
                    connection.Requests.Payments().Body, false, end)))),
        },
        new("unread-description", Phase.Unread, "the description of the API, which needs no token")
        {
            ShowsToken = false,
            Layouts = [new(20, 100), new(200, 10)],
            ReceivesLittle = true,
            Http2 = Sequence(BeginWith(0), Each(Ask(requests => requests.Anonymous())), Hold),
            Http1 = Sequence(Each(AskInText(requests => requests.Anonymous())), Hold),
        },
    ];

    // The bodies of these are far smaller than the first windows are.
    private static Step AskWithoutReading => Send(connection =>
    {
        var request = connection.Requests.Statement();
        var headers = Http2Frames.Frame(
            FrameKind.Headers, (byte)(Http2Frames.EndHeaders | (request.Body.Length == 0 ? Http2Frames.EndStream : 0)),
            connection.StreamId, connection.Requests.Fields(request));
        return request.Body.Length == 0
            ? headers
            : [.. headers, .. Http2Frames.Frame(
                FrameKind.Data, Http2Frames.EndStream, connection.StreamId, request.Body)];
    });
}
