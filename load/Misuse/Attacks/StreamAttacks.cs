using Billing.Misuse.Frames;
using static Billing.Misuse.Attacks.Parts;
using static Billing.Misuse.Attacks.Steps;

namespace Billing.Misuse.Attacks;

/// <summary>Attacks with many streams.</summary>
internal static class StreamAttacks
{
    /// <summary>All of them.</summary>
    public static IReadOnlyList<Attack> All { get; } =
    [
        new("streams-open", Phase.Streams, "headers of payments, and no body")
        {
            Layouts = [new(1, 1000), new(20, 1000), new(100, 1000)],
            Http2 = Sequence(Begin, Each(HeadersOnly), Hold),
        },
        new("streams-beyond-limit", Phase.Streams, "more streams at once than the proxy allows")
        {
            Layouts = [new(1, 5000), new(20, 5000)],
            Http2 = Sequence(Begin, Each(HeadersOnly), Hold),
        },
        new("streams-of-payments", Phase.Streams, "bulk streams with one payment each, which stay open")
        {
            IsGrpcOnly = true,
            Http2 = Sequence(Begin, Each(AskWithoutEnd(requests => requests.Payments())), Hold),
        },
        new("streams-of-health", Phase.Streams, "watches of the health, which need no token")
        {
            IsGrpcOnly = true,
            ShowsToken = false,
            Http2 = Sequence(Begin, Each(Ask(requests => requests.Anonymous())), Hold),
        },
        new("streams-backwards", Phase.Streams, "streams with numbers that go down, or of the server")
        {
            ShowsToken = false,
            Layouts = [new(20, 10), new(100, 10)],
            Http2 = Sequence(Begin, Each(Send(connection => Http2Frames.Frame(
                FrameKind.Headers, Http2Frames.EndHeaders, connection.Random.Next(1, 100),
                connection.Requests.Fields(connection.Requests.Payment()))))),
        },
    ];

    private static Step HeadersOnly => Send(connection => Http2Frames.Frame(
        FrameKind.Headers, Http2Frames.EndHeaders, connection.StreamId,
        connection.Requests.Fields(connection.Requests.Payment())));
}
