using System.Buffers;
using System.Collections.Concurrent;
using System.Net.Sockets;
using Billing.Wire.V1;
using Google.Protobuf;
using Grpc.Core;

namespace Billing.Rpc.Rpcx;

/// <summary>An established connection to a server, with its calls in flight.</summary>
internal sealed class ClientConnection(Socket socket, string address) : IDisposable
{
    private readonly FrameOutput _output = new(socket);
    private readonly ConcurrentDictionary<ulong, IPendingCall> _calls = new();
    private ulong _lastId;
    private volatile bool _closed;

    /// <summary>Whether further calls may be sent.</summary>
    public bool IsOpen => !_closed;

    /// <summary>Completes when the server has read so much that further calls may be sent, or when the
    /// connection is closed.</summary>
    public Task WaitForCapacityAsync() => _output.WaitForCapacityAsync();

    /// <summary>Sends a call.</summary>
    /// <returns>False if nothing was sent: the connection is closed, or the server has too much to read.</returns>
    /// <exception cref="RpcxException">The request is too long.</exception>
    public bool TrySend(IPendingCall call)
    {
        var length = call.Request.CalculateSize();
        if (length > FrameHeader.PayloadMax)
        {
            throw new RpcxException(
                StatusCode.ResourceExhausted,
                $"A request of {length} bytes to {call.Method.Name} is longer than {FrameHeader.PayloadMax}.");
        }
        if (_closed || !_output.HasCapacity)
        {
            return false;
        }
        var id = Interlocked.Increment(ref _lastId);
        _calls[id] = call;
        try
        {
            // What RunAsync has removed, it has also failed. Otherwise the connection was closed before
            // the call was added.
            return _output.Write(new FrameHeader(FrameKind.Request, id, call.Method.Number, length), call.Request)
                || !_calls.TryRemove(id, out _);
        }
        catch
        {
            _calls.TryRemove(id, out _);
            throw;
        }
    }

    /// <summary>Reads until the connection ends. The calls that are still in flight then fail.</summary>
    public async Task RunAsync()
    {
        var sending = _output.SendAsync();
        var why = "the server closed it";
        try
        {
            await FrameReader.ReadAllAsync(socket, Take, () => { });
        }
        catch (Exception e) when (e is ProtocolException or IOException or SocketException or ObjectDisposedException)
        {
            why = e.Message;
        }
        Dispose();
        foreach (var id in _calls.Keys)
        {
            Remove(id)?.Fail(new RpcxException(StatusCode.Unavailable, $"The connection to {address} is lost: {why}."));
        }
        await sending;
    }

    /// <summary>Closes the connection; <see cref="RunAsync"/> then ends.</summary>
    public void Dispose()
    {
        _closed = true;
        _output.Complete();
        socket.Dispose();
    }

    private ValueTask Take(FrameHeader header, ReadOnlySequence<byte> payload)
    {
        switch (header.Kind)
        {
            case FrameKind.Reply:
                Remove(header.CallId)?.Complete(payload);
                break;
            case FrameKind.Error:
                Remove(header.CallId)?.Fail(Read(payload));
                break;
            default:
                throw new ProtocolException($"a server must not send {header.Kind}");
        }
        return ValueTask.CompletedTask;
    }

    private IPendingCall? Remove(ulong id) => _calls.TryRemove(id, out var call) ? call : null;

    private static RpcxException Read(in ReadOnlySequence<byte> payload)
    {
        try
        {
            var error = FrameReader.Parse(Error.Parser, payload);
            return new RpcxException(
                error.StatusCode is > 0 and <= (int)StatusCode.Unauthenticated
                    ? (StatusCode)error.StatusCode
                    : StatusCode.Unknown,
                error.Message);
        }
        catch (InvalidProtocolBufferException e)
        {
            return new RpcxException(StatusCode.Unknown, "The server answered with an error that cannot be read.", e);
        }
    }
}
