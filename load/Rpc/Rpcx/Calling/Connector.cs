using System.IO.Pipelines;
using System.Net.Sockets;
using Billing.Rpc.Rpcx.Wire;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Rpc.Rpcx.Calling;

/// <summary>Opens connections: connects, sends the greeting, reads the welcome.</summary>
internal sealed class Connector(RpcxClientOptions options, MethodNumbers methods, CallClock clock, ILogger logger)
{
    private const int InputSegmentBytes = 32 << 10;

    /// <summary>Opens a connection.</summary>
    /// <exception cref="RpcxException">The connection cannot be opened; UNAVAILABLE.</exception>
    public async Task<ClientConnection> ConnectAsync(CancellationToken cancellationToken)
    {
        using var timeout = new CancellationTokenSource(options.ConnectTimeout, clock.Time);
        using var linked = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        try
        {
            return await ConnectWithinAsync(linked.Token);
        }
        catch (OperationCanceledException) when (timeout.IsCancellationRequested)
        {
            throw NotConnected($"it did not answer within Billing:Rpcx:ConnectTimeout ({options.ConnectTimeout})");
        }
        catch (OperationCanceledException e)
        {
            throw NotConnected("the client is disposed", RpcxReasons.ClientClosed, e);
        }
        catch (ProtocolException e)
        {
            throw NotConnected(e.Message, e.Reason, e);
        }
        catch (Exception e) when (e is SocketException or IOException or ObjectDisposedException)
        {
            throw NotConnected(e.Message, inner: e);
        }
    }

    private async Task<ClientConnection> ConnectWithinAsync(CancellationToken cancellationToken)
    {
        RpcxClientOptions.TryReadAddress(options.Address, out var host, out var port);
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
        try
        {
            SocketSettings.Apply(socket);
            await socket.ConnectAsync(host, port, cancellationToken);
            var named = methods.From(1);
            await HelloAsync(socket, named, cancellationToken);
            var input = PipeReader.Create(
                new NetworkStream(socket, ownsSocket: true), new StreamPipeReaderOptions(bufferSize: InputSegmentBytes));
            var welcome = await WelcomeAsync(input, cancellationToken);
            var output = new FrameOutput(socket, options.OutputBytesMax);
            return new ClientConnection(socket, input, output, welcome, named.Names.Count, options, methods, clock, logger);
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    private async Task HelloAsync(Socket socket, RpcxMethodNames named, CancellationToken cancellationToken)
    {
        var greeting = Greeting.Write(new RpcxHello { FrameBytesMax = (uint)options.FrameBytesMax, Methods = named });
        var frame = new byte[FrameHeader.Bytes + greeting.Length];
        new FrameHeader(FrameKind.Hello).Write(frame, greeting.Length);
        greeting.CopyTo(frame, FrameHeader.Bytes);
        for (ReadOnlyMemory<byte> unsent = frame; unsent.Length > 0;)
        {
            unsent = unsent[await socket.SendAsync(unsent, SocketFlags.None, cancellationToken)..];
        }
    }

    private async Task<RpcxWelcome> WelcomeAsync(PipeReader input, CancellationToken cancellationToken)
    {
        while (true)
        {
            var read = await input.ReadAsync(cancellationToken);
            var unread = read.Buffer;
            if (FrameReader.TryRead(ref unread, options.FrameBytesMax, out var header, out var payload))
            {
                var welcome = header.Kind switch
                {
                    FrameKind.Welcome => RpcxWelcome.Parser.ParseFrom(payload),
                    FrameKind.Error => throw Refused(ClientConnection.ReadError(payload)),
                    _ => throw new ProtocolException($"the server's first frame is {header.Kind}"),
                };
                input.AdvanceTo(unread.Start);
                return welcome;
            }
            input.AdvanceTo(unread.Start, unread.End);
            if (read.IsCompleted)
            {
                throw new ProtocolException("the server closed the connection instead of answering", RpcxReasons.NotConnected);
            }
        }
    }

    private static ProtocolException Refused(Error error) => new("the server answered: " + error.Message, error.Reason);

    private RpcxException NotConnected(string why, string reason = RpcxReasons.NotConnected, Exception? inner = null) =>
        new(StatusCode.Unavailable, reason, $"Cannot connect to {options.Address}: {why}.", innerException: inner);
}
