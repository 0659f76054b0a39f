using System.Buffers;
using System.Net;
using System.Net.Sockets;
using Billing.Rpc;
using Billing.Rpc.Rpcx;
using Billing.Wire.V1;
using Google.Protobuf;
using Grpc.Core;
using Microsoft.Extensions.Logging;

namespace Billing.UnitTests.Fuzzing;

/// <summary>Hostile frames of RPCX, to a server and from a server. Inputs that begin with the number of a kind are the
/// payload of such a frame, whose length is right; others are all that is sent.</summary>
public sealed class RpcxFuzz : IBackendService, IDisposable
{
    private static readonly Command Sample = Command.Parser.ParseFrom(Corpus.Commands[0]);
    private static readonly uint Execute = ServiceContract.Read(typeof(IBackendService))[0].Number;

    private static readonly string[] Words =
    [
        .. Corpus.Words,
        .. Enumerable.Range(0, 5).Select(kind => Text(Frame(new FrameHeader((FrameKind)kind, 1, Execute), []))),
        Text(Frame(new FrameHeader(FrameKind.Error, 1), new Error { StatusCode = 99, Reason = "X" }.ToByteArray())),
    ];

    private readonly FaultLog _log = new();

    public void Dispose() => _log.Dispose();

    public Task<Reply> ExecuteAsync(Command command) => command.RequestCase switch
    {
        Command.RequestOneofCase.None => throw new RpcxException(StatusCode.InvalidArgument, "It holds no request."),
        // Answered by another thread.
        Command.RequestOneofCase.Statement => Task.Run(() => new Reply { CorrelationId = command.CorrelationId }),
        _ => Task.FromResult(new Reply { CorrelationId = command.CorrelationId }),
    };

    [Fact]
    public async Task Frames_from_a_client_are_answered_or_end_only_their_own_connection()
    {
        await using var server = new RpcxServer(
            new IPEndPoint(IPAddress.Loopback, 0), TimeProvider.System, Log<RpcxServer>());
        server.Publish<IBackendService>(this);
        await server.StartAsync(CancellationToken.None);
        await using var other = Client(server.EndPoint);
        var backend = other.Proxy<IBackendService>();
        var tried = 0;
        await new Fuzz("rpcx-server", [.. FromClients()], Words, tries: 1_500).RunAsync(async input =>
        {
            var answered = await FuzzedProxy.ExchangeAsync(
                server.EndPoint.Port, input is [(byte)FrameKind.Request, .. var request]
                    ? Frame(new FrameHeader(FrameKind.Request, 1, Execute), request)
                    : input);
            var kinds = Kinds(answered);
            if (++tried % 100 == 0)
            {
                Assert.Equal(Sample.CorrelationId, (await backend.ExecuteAsync(Sample)).CorrelationId);
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
            await using var client = Client((IPEndPoint)listener.LocalEndPoint!);
            var backend = client.Proxy<IBackendService>();
            var calls = Enumerable.Range(0, 3).Select(_ => OutcomeAsync(backend.ExecuteAsync(Sample))).ToList();
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

    private RpcxClient Client(IPEndPoint server) => new(
        new RpcxClientOptions(server.ToString()) { ConnectTimeout = TimeSpan.FromMinutes(5) },
        TimeProvider.System, Log<RpcxClient>());

    private Logger<T> Log<T>() => new(new LoggerFactory([_log]));

    private static async Task<string> OutcomeAsync(Task<Reply> call)
    {
        try
        {
            await call;
            return "replied";
        }
        catch (RpcxException e)
        {
            return e.StatusCode.ToString();
        }
    }

    // Every answer is a frame, and every error can be read.
    private static string Kinds(byte[] answered)
    {
        var kinds = new SortedSet<string>(StringComparer.Ordinal);
        var input = new ReadOnlySequence<byte>(answered);
        while (FrameReader.TryRead(ref input, out var header, out var payload))
        {
            kinds.Add(header.Kind == FrameKind.Error
                ? $"error {Error.Parser.ParseFrom(payload).StatusCode}"
                : header.Kind.ToString());
        }
        Assert.True(input.IsEmpty);
        return string.Join(' ', kinds);
    }

    private static byte[] OfServer(byte[] input) => input switch
    {
        [(byte)FrameKind.Reply, .. var reply] => Frame(new FrameHeader(FrameKind.Reply, 1), reply),
        [(byte)FrameKind.Error, .. var error] => Frame(new FrameHeader(FrameKind.Error, 1), error),
        _ => input,
    };

    private static IEnumerable<byte[]> FromClients()
    {
        yield return [(byte)FrameKind.Request, .. Corpus.Commands[1]];
        foreach (var command in Corpus.Commands.Take(8))
        {
            yield return
            [
                .. Frame(new FrameHeader(FrameKind.Request, 1, Execute), command),
                .. Frame(new FrameHeader(FrameKind.Request, 2, 2), command),
            ];
        }
    }

    private static IEnumerable<byte[]> FromServers()
    {
        var error = new Error { StatusCode = 3, Message = "m" }.ToByteArray();
        var reply = new Reply { CorrelationId = 1 }.ToByteArray();
        yield return [(byte)FrameKind.Reply, .. Reply.Parser.ParseFrom(Corpus.Replies[0]).ToByteArray()];
        yield return [(byte)FrameKind.Error, .. error];
        yield return
        [
            .. Enumerable.Range(1, 3).SelectMany(id => Frame(new FrameHeader(FrameKind.Reply, (ulong)id), reply)),
        ];
        yield return
        [
            .. Frame(new FrameHeader(FrameKind.Error, 1), error), .. Frame(new FrameHeader(FrameKind.Reply, 2), reply),
        ];
    }

    private static byte[] Frame(in FrameHeader header, ReadOnlySpan<byte> payload)
    {
        var frame = new byte[FrameHeader.Bytes + payload.Length];
        (header with { Length = payload.Length }).Write(frame);
        payload.CopyTo(frame.AsSpan(FrameHeader.Bytes));
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
