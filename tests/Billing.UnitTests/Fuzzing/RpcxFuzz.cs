using System.Buffers;
using System.Net;
using System.Net.Sockets;
using Billing.Rpc;
using Billing.Rpc.Rpcx;
using Billing.Rpc.Rpcx.Calling;
using Billing.Rpc.Rpcx.Serving;
using Billing.Rpc.Rpcx.Wire;
using Billing.Wire.V1;
using Google.Protobuf;
using Grpc.Core;
using Microsoft.Extensions.Logging;

namespace Billing.UnitTests.Fuzzing;

/// <summary>Hostile frames of RPCX, to a server and from a server. Inputs that begin with the number of a kind are the payload of such a
/// frame, whose length is right; others are all that is sent.</summary>
public sealed class RpcxFuzz : IBackendService, IDisposable
{
    private const int FrameBytesMax = 64 * 1024;

    private static readonly Command Sample = Command.Parser.ParseFrom(Corpus.Commands[0]);

    private static readonly string[] Words =
    [
        .. Corpus.Words, "RPCX", .. Enumerable.Range(0, 10).Select(kind => Text(Frame(new FrameHeader((FrameKind)kind, 1, 1)))),
        Text(Frame(new FrameHeader(FrameKind.Names), new RpcxMethodNames { FirstNumber = 2, Names = { new RpcxMethodName { Service = "billing.wire.v1.Backend", Method = "Execute" } } })),
        Text(Frame(new FrameHeader(FrameKind.Error, 1), new Error { StatusCode = 99, Reason = "X" })),
    ];

    private readonly FaultLog _log = new();

    public void Dispose() => _log.Dispose();

    public Task<Reply> ExecuteAsync(Command command, RpcxCallOptions options) => command.RequestCase switch
    {
        Command.RequestOneofCase.None => throw new RpcxException(StatusCode.InvalidArgument, "NO_REQUEST", "It holds no request."),
        // Answered by another thread.
        Command.RequestOneofCase.Statement => Task.Run(() => new Reply { CorrelationId = command.CorrelationId }),
        _ => Task.FromResult(new Reply { CorrelationId = command.CorrelationId }),
    };

    [Fact]
    public async Task Frames_from_a_client_are_answered_or_end_only_their_own_connection()
    {
        await using var server = await ServerAsync();
        await using var other = Client(server.EndPoint, Timeout.InfiniteTimeSpan);
        var backend = other.Proxy<IBackendService>();
        var tried = 0;
        await new Fuzz("rpcx-server", [.. FromClients()], Words, tries: 1_500).RunAsync(async input =>
        {
            var answered = await FuzzedProxy.ExchangeAsync(server.EndPoint.Port, OfClient(input));
            var kinds = Kinds(answered);
            if (++tried % 100 == 0)
            {
                Assert.Equal(Sample.CorrelationId, (await backend.ExecuteAsync(Sample, default)).CorrelationId);
            }
            _log.AssertNone();
            return kinds;
        });
    }

    [Fact]
    public async Task Frames_from_a_server_end_a_call_with_a_reply_or_an_error_of_RPCX()
    {
        await new Fuzz("rpcx-client", [.. FromServers()], Words, tries: 700).RunAsync(async input =>
        {
            using var listener = new Socket(SocketType.Stream, ProtocolType.Tcp);
            // Each port is one of a former connection, after some time.
            listener.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.ReuseAddress, true);
            listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
            listener.Listen();
            await using var client = Client((IPEndPoint)listener.LocalEndPoint!, Timeout.InfiniteTimeSpan);
            var backend = client.Proxy<IBackendService>();
            var calls = Enumerable.Range(0, 3).Select(_ => OutcomeAsync(backend.ExecuteAsync(Sample, default))).ToList();
            using (var server = await listener.AcceptAsync())
            {
                // There is no other connection after this one, and when it ends, so do its calls.
                listener.Dispose();
                await SendAsync(server, OfServer(input));
            }
            var outcomes = await Task.WhenAll(calls);
            _log.AssertNone();
            return string.Join(' ', outcomes);
        });
    }

    private async Task<RpcxServer> ServerAsync()
    {
        var options = new RpcxServerOptions { Listen = new IPEndPoint(IPAddress.Loopback, 0), FrameBytesMax = FrameBytesMax };
        var server = new RpcxServer(options, TimeProvider.System, Log<RpcxServer>());
        server.Publish<IBackendService>(this);
        await server.StartAsync(CancellationToken.None);
        return server;
    }

    private RpcxClient Client(IPEndPoint server, TimeSpan timeout) => new(
        new RpcxClientOptions { Address = server.ToString(), TimeoutDefault = timeout, ConnectTimeout = TimeSpan.FromMinutes(5), FrameBytesMax = FrameBytesMax },
        TimeProvider.System, Log<RpcxClient>());

    private Logger<T> Log<T>()
    {
        var factory = new LoggerFactory([_log]);
        return new Logger<T>(factory);
    }

    private static async Task<string> OutcomeAsync(Task<Reply> call)
    {
        try
        {
            await call;
            return "replied";
        }
        catch (RpcxException e)
        {
            return $"{e.StatusCode} {e.Reason}";
        }
    }

    // Every answer is a frame, and every error of the protocol can be read.
    private static string Kinds(byte[] answered)
    {
        var kinds = new SortedSet<string>(StringComparer.Ordinal);
        var input = new ReadOnlySequence<byte>(answered);
        while (FrameReader.TryRead(ref input, int.MaxValue, out var header, out var payload))
        {
            kinds.Add(header.Kind == FrameKind.Error ? $"{header.CallId == 0} {Error.Parser.ParseFrom(payload).Reason}" : header.Kind.ToString());
        }
        Assert.True(input.IsEmpty);
        return string.Join(' ', kinds);
    }

    private static RpcxMethodNames Names { get; } = new()
    {
        FirstNumber = 1,
        Names = { new RpcxMethodName { Service = "billing.wire.v1.Backend", Method = "Execute" }, new RpcxMethodName { Service = "x", Method = "y" } },
    };

    private static byte[] Hello() => Frame(new FrameHeader(FrameKind.Hello), Greeting.Write(new RpcxHello { FrameBytesMax = FrameBytesMax, Methods = Names }));

    private static byte[] Welcome() => Frame(new FrameHeader(FrameKind.Welcome), new RpcxWelcome { FrameBytesMax = FrameBytesMax, InFlightMax = 100 });

    private static byte[] OfClient(byte[] input) => input is [(byte)FrameKind.Hello, .. var hello] ? Frame(new FrameHeader(FrameKind.Hello), hello)
        : input is [(byte)FrameKind.Names, .. var names] ? [.. Hello(), .. Frame(new FrameHeader(FrameKind.Names), names)]
        : input is [(byte)FrameKind.Request, .. var request] ? [.. Hello(), .. Frame(new FrameHeader(FrameKind.Request, 1, 1), request)]
        : input;

    private static byte[] OfServer(byte[] input) => input is [(byte)FrameKind.Welcome, .. var welcome] ? Frame(new FrameHeader(FrameKind.Welcome), welcome)
        : input is [(byte)FrameKind.Reply, .. var reply] ? [.. Welcome(), .. Frame(new FrameHeader(FrameKind.Reply, 1), reply)]
        : input is [(byte)FrameKind.Error, .. var error] ? [.. Welcome(), .. Frame(new FrameHeader(FrameKind.Error, 1), error)]
        : input;

    private static IEnumerable<byte[]> FromClients()
    {
        yield return [(byte)FrameKind.Hello, .. Greeting.Write(new RpcxHello { FrameBytesMax = 1, Methods = Names })];
        yield return [(byte)FrameKind.Names, .. new RpcxMethodNames { FirstNumber = 3, Names = { Names.Names } }.ToByteArray()];
        yield return [(byte)FrameKind.Request, .. Corpus.Commands[1]];
        var hello = Hello();
        var late = Frame(new FrameHeader(FrameKind.Hello), Greeting.Write(new RpcxHello { FrameBytesMax = FrameBytesMax }));
        foreach (var command in Corpus.Commands.Take(8))
        {
            var first = Frame(new FrameHeader(FrameKind.Request, 1, 1, 1_000_000), command);
            yield return [.. hello, .. first, .. Frame(new FrameHeader(FrameKind.Request, 2, 2), command), .. Frame(new FrameHeader(FrameKind.Cancel, 2))];
            yield return [.. late, .. Frame(new FrameHeader(FrameKind.Names), Names), .. first, .. Frame(new FrameHeader(FrameKind.Cancel, 1))];
        }
    }

    private static IEnumerable<byte[]> FromServers()
    {
        yield return [(byte)FrameKind.Welcome, .. new RpcxWelcome { FrameBytesMax = FrameBytesMax, InFlightMax = 100 }.ToByteArray()];
        yield return [(byte)FrameKind.Reply, .. Reply.Parser.ParseFrom(Corpus.Replies[0]).ToByteArray()];
        yield return [(byte)FrameKind.Error, .. new Error { StatusCode = 3, Reason = "X", Message = "m", Field = "f" }.ToByteArray()];
        var welcome = Welcome();
        var reply = new Reply { CorrelationId = 1 };
        yield return [.. welcome, .. Frame(new FrameHeader(FrameKind.Reply, 1), reply), .. Frame(new FrameHeader(FrameKind.Reply, 2), reply), .. Frame(new FrameHeader(FrameKind.Reply, 3), reply)];
        yield return [.. welcome, .. Frame(new FrameHeader(FrameKind.Error, 1), new Error { StatusCode = 3, Reason = "X", Message = "m" }), .. Frame(new FrameHeader(FrameKind.GoAway)), .. Frame(new FrameHeader(FrameKind.Reply, 2), reply)];
        yield return [.. Frame(new FrameHeader(FrameKind.Error), new Error { StatusCode = 13, Reason = RpcxReasons.VersionRefused, Message = "this is version 9" })];
        yield return [.. welcome, .. Frame(new FrameHeader(FrameKind.Error), new Error { StatusCode = 13, Reason = "X" })];
    }

    private static byte[] Frame(in FrameHeader header, IMessage? payload = null) => Frame(header, payload?.ToByteArray() ?? []);

    private static byte[] Frame(in FrameHeader header, byte[] payload)
    {
        var frame = new byte[FrameHeader.Bytes + payload.Length];
        header.Write(frame, payload.Length);
        payload.CopyTo(frame, FrameHeader.Bytes);
        return frame;
    }

    private static string Text(byte[] bytes) => System.Text.Encoding.Latin1.GetString(bytes);

    private static async Task SendAsync(Socket socket, byte[] bytes)
    {
        try
        {
            for (ReadOnlyMemory<byte> unsent = bytes; unsent.Length > 0;)
            {
                unsent = unsent[await socket.SendAsync(unsent)..];
            }
            socket.Shutdown(SocketShutdown.Send);
            // A connection that is closed while something is unread is reset, and what was sent may be lost.
            var buffer = new byte[8_192];
            while (await socket.ReceiveAsync(buffer) > 0)
            {
            }
        }
        catch (SocketException)
        {
            // The client has closed the connection because of what came before.
        }
    }
}
