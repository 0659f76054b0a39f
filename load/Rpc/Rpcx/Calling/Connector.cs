using System.Buffers;
using System.Net.Sockets;
using Billing.Rpc.Rpcx.Wire;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Rpc.Rpcx.Calling;

/// <summary>Opens connections: connects, sends the greeting, reads the welcome.</summary>
internal sealed class Connector(RpcxClientOptions options, MethodNumbers methods, CallClock clock, ILogger logger)
{
    private readonly Uri _address = new("rpcx://" + options.Address);

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
            throw NotConnected($"it did not answer within {options.ConnectTimeout} (ConnectTimeout)");
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
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
        try
        {
            SocketSettings.Apply(socket);
            await socket.ConnectAsync(_address.DnsSafeHost, _address.Port, cancellationToken);
            var stream = new NetworkStream(socket, ownsSocket: true);
            var named = methods.From(1);
            await stream.WriteAsync(Hello(named), cancellationToken);
            var input = FrameReader.Over(stream);
            var welcome = await FrameReader.ReadFirstAsync(input, options.FrameBytesMax, ReadWelcome, cancellationToken);
            var output = new FrameOutput(socket, options.OutputBytesMax);
            return new ClientConnection(socket, input, output, welcome, named.Names.Count, options, methods, clock, logger);
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    private byte[] Hello(RpcxMethodNames named)
    {
        var greeting = Greeting.Write(new RpcxHello { FrameBytesMax = (uint)options.FrameBytesMax, Methods = named });
        var frame = new byte[FrameHeader.Bytes + greeting.Length];
        new FrameHeader(FrameKind.Hello).Write(frame, greeting.Length);
        greeting.CopyTo(frame, FrameHeader.Bytes);
        return frame;
    }

    private static RpcxWelcome ReadWelcome(FrameHeader header, ReadOnlySequence<byte> payload)
    {
        switch (header.Kind)
        {
            case FrameKind.Welcome:
                return FrameReader.ParseOwn(RpcxWelcome.Parser, payload);
            case FrameKind.Error:
                var error = FrameReader.ParseOwn(Error.Parser, payload);
                throw new ProtocolException("the server answered: " + error.Message, error.Reason);
            default:
                throw new ProtocolException($"the server's first frame is {header.Kind}");
        }
    }

    private RpcxException NotConnected(string why, string reason = RpcxReasons.NotConnected, Exception? inner = null) =>
        new(StatusCode.Unavailable, reason, $"Cannot connect to {options.Address}: {why}.", innerException: inner);
}
