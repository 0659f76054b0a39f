using System.Net.Security;
using Billing.Misuse.Connections;
using Billing.Misuse.Frames;
using static Billing.Misuse.Attacks.Parts;
using static Billing.Misuse.Attacks.Steps;

namespace Billing.Misuse.Attacks;

/// <summary>Attacks before the first request: TCP, TLS, the preface, and connections that nothing comes on.</summary>
internal static class ConnectionAttacks
{
    private static readonly Layout[] Many = [new(1000, 1), new(3000, 1)];
    private static readonly Layout[] Few = [new(20, 1), new(500, 1)];
    private static readonly byte[] Hello2 = ClientHello.Create(SslApplicationProtocol.Http2);
    private static readonly byte[] Hello1 = ClientHello.Create(SslApplicationProtocol.Http11);

    /// <summary>By phase.</summary>
    public static IReadOnlyList<Attack> All { get; } =
    [
        Connecting("connected", "connect, and send nothing", Many, Sequence(Read, Hold)),
        Connecting("half-closed", "connect, say that nothing more comes, and stay", Many,
            Sequence(EndSending, Read, Hold)),
        Connecting("connect-and-reset", "connect and reset, as often as possible", Few, Reset),
        Handshake("handshake-stalled", "send the first half of a TLS handshake", Many, hello =>
            Sequence(Read, Send(_ => hello[..(hello.Length / 2)]), Hold)),
        Handshake("handshake-dripped", "send a TLS handshake byte by byte", Many, hello =>
            Sequence(Read, Drip(10, _ => hello), Hold)),
        Handshake("handshake-garbage", "send what is no TLS", Few, _ => Sequence(Read, Send(Garbage), Hold)),
        new("handshake-repeated", Phase.Connecting, "make a whole TLS handshake and leave, as often as possible")
        {
            NeedsTls = true, ShowsToken = false, Layouts = Few, Http2 = Close, Http1 = Close,
        },
        Preface("preface-missing", "send what is no HTTP/2", Few, Sequence(Read, Send(Garbage), Hold)),
        Preface("preface-dripped", "send the preface byte by byte", Many,
            Sequence(Read, Drip(5, _ => Http2Frames.Preface), Hold)),
        Preface("preface-without-settings", "send the preface and nothing else", Many,
            Sequence(Read, Send(_ => Http2Frames.Preface), Hold)),
        new("idle", Phase.Idle, "begin HTTP/2 and stay; over HTTP/1.1, send one line and stay")
        {
            ShowsToken = false,
            Layouts = Many,
            Http2 = Sequence(Begin, Hold),
            Http1 = Sequence(Read, Text(_ => "GET /health/live HTTP/1.1\r\n"), Hold),
        },
        new("idle-with-pings", Phase.Idle, "begin HTTP/2, and send a PING each second")
        {
            ShowsToken = false, Layouts = Many, Http2 = Sequence(Begin, Repeat(SendPing, 1)),
        },
        new("idle-after-request", Phase.Idle, "make one request and stay")
        {
            Layouts = Many,
            Http2 = Sequence(Begin, New(Ask(requests => requests.Page())), Hold),
            Http1 = Sequence(Read, AskInText(requests => requests.Page()), Hold),
        },
    ];

    private static Attack Connecting(string name, string what, Layout[] layouts, Step steps) =>
        new(name, Phase.Connecting, what)
        {
            IsBare = true,
            ShowsToken = false,
            Layouts = layouts,
            Http2 = steps,
            Http1 = steps,
        };

    private static Attack Handshake(string name, string what, Layout[] layouts, Func<byte[], Step> steps) =>
        new(name, Phase.Connecting, what)
        {
            IsBare = true,
            NeedsTls = true,
            ShowsToken = false,
            Layouts = layouts,
            Http2 = steps(Hello2),
            Http1 = steps(Hello1),
        };

    private static Attack Preface(string name, string what, Layout[] layouts, Step steps) =>
        new(name, Phase.Preface, what) { ShowsToken = false, Layouts = layouts, Http2 = steps };

    private static byte[] Garbage(HostileConnection connection)
    {
        var bytes = new byte[connection.Random.Next(1, 4096)];
        connection.Random.NextBytes(bytes);
        return bytes;
    }
}
