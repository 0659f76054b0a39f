using Billing.Misuse.Frames;
using static Billing.Misuse.Attacks.Parts;
using static Billing.Misuse.Attacks.Steps;

namespace Billing.Misuse.Attacks;

/// <summary>Attacks with requests that are in order, but for their number.</summary>
internal static class CallAttacks
{
    private const int Cancel = 8;
    private static readonly Connections.Layout[] Few = [new(1, 100), new(20, 10), new(100, 10)];

    /// <summary>All of them.</summary>
    public static IReadOnlyList<Attack> All { get; } =
    [
        new("bulk-statements", Phase.Bulk, "whole statements of a long account, which are read")
        {
            Layouts = Few,
            Http2 = Sequence(Begin, Repeat(Each(Ask(requests => requests.Statement())), 1)),
            Http1 = Sequence(Read, Repeat(Each(AskInText(requests => requests.Statement())), 1)),
        },
        new("bulk-payments", Phase.Bulk, "bulk streams of payments, as fast as they are taken")
        {
            IsGrpcOnly = true,
            Layouts = [new(1, 100), new(20, 10)],
            Http2 = Sequence(
                Begin, Each(AskWithoutEnd(requests => requests.Payments())),
                Repeat(Round((connection, end) => connection.SendDataAsync(
                    connection.Requests.Payments().Body, false, end)))),
        },
        new("calls-of-payments", Phase.Calls, "a flood of payments")
        {
            Layouts = Few,
            Http2 = Sequence(Begin, Repeat(Each(Ask(requests => requests.Payment())), 1)),
            Http1 = Sequence(Read, Repeat(Each(AskInText(requests => requests.Payment())), 1)),
        },
        new("calls-cancelled", Phase.Calls, "payments that are cancelled as soon as they are sent")
        {
            Layouts = Few,
            Http2 = Sequence(Begin, Repeat(Each(Sequence(
                Ask(requests => requests.Payment()),
                Send(connection => Http2Frames.Reset(connection.StreamId, Cancel)))), 1)),
            Http1 = Sequence(Read, AskInText(requests => requests.Payment()), Reset),
        },
        new("calls-invalid", Phase.Calls, "payments whose contents mean nothing")
        {
            Layouts = Few,
            Http2 = Sequence(Begin, Repeat(Each(Ask(requests => requests.Sized(1_000, 1_000))), 1)),
            Http1 = Sequence(Read, Repeat(Each(AskInText(requests => requests.Sized(1_000, 1_000))), 1)),
        },
        new("calls-in-one-write", Phase.Calls, "thousands of requests in one piece, whose answers are not waited for")
        {
            Layouts = [new(1, 1000), new(20, 1000)],
            Http2 = Sequence(Begin, Each(Ask(requests => requests.Page())), Hold),
            Http1 = Sequence(Read, Each(AskInText(requests => requests.Page())), Hold),
        },
    ];
}
