using System.Buffers;
using System.IO.Pipelines;
using System.Net.Sockets;
using Billing.Rpc.Rpcx.Wire;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Rpc.Rpcx.Calling;

/// <summary>An established connection to a server, with its calls in flight.</summary>
internal sealed class ClientConnection : IDisposable
{
    private readonly Socket _socket;
    private readonly PipeReader _input;
    private readonly FrameOutput _output;
    private readonly CallTable<IPendingCall> _calls;
    private readonly CallClock _clock;
    private readonly SemaphoreSlim _window;
    private readonly Lock _namesGate = new();
    private readonly RpcxClientOptions _options;
    private readonly MethodNumbers _methods;
    private readonly ILogger _logger;
    private readonly int _requestBytesMax;
    private ulong _lastId;
    private int _namesSent;
    private volatile bool _goingAway;
    private volatile bool _closing;

    public ClientConnection(
        Socket socket, PipeReader input, FrameOutput output, RpcxWelcome welcome, int namesSent,
        RpcxClientOptions options, MethodNumbers methods, CallClock clock, ILogger logger)
    {
        (_socket, _input, _output, _namesSent) = (socket, input, output, namesSent);
        (_options, _methods, _logger) = (options, methods, logger);
        _clock = clock;
        _calls = new CallTable<IPendingCall>(clock, Expire);
        _window = new SemaphoreSlim((int)Math.Clamp(welcome.InFlightMax, 1, int.MaxValue / 4));
        _requestBytesMax = (int)Math.Clamp(welcome.FrameBytesMax, 0, 1 << 30);
    }

    /// <summary>Whether further calls may be sent.</summary>
    public bool IsOpen => !_goingAway && !_closing;

    /// <summary>Reserves a slot in the server's window if one is free. <see cref="TrySend"/> must be called afterwards.</summary>
    public bool TryReserveSlot() => _output.HasCapacity && _window.Wait(0, CancellationToken.None);

    /// <summary>Waits for a slot in the server's window and reserves it. Also completes when the connection is closed.</summary>
    public async Task ReserveSlotAsync(CancellationToken cancellationToken)
    {
        await _window.WaitAsync(cancellationToken);
        try
        {
            await _output.WaitForCapacityAsync().WaitAsync(cancellationToken);
        }
        catch (OperationCanceledException)
        {
            _window.Release();
            throw;
        }
    }

    /// <summary>Sends a call for which a slot is reserved.</summary>
    /// <returns>False if the connection accepts no further calls; nothing was sent.</returns>
    /// <exception cref="RpcxException">The request is too large.</exception>
    public bool TrySend(IPendingCall call)
    {
        var length = call.Request.CalculateSize();
        var id = Interlocked.Increment(ref _lastId);
        if (length > _requestBytesMax || !IsOpen || !_calls.TryAdd(id, call, call.DueAt))
        {
            _window.Release();
            return length > _requestBytesMax ? throw TooLarge(call.Method.Name, length) : false;
        }
        try
        {
            if (!TryWrite(id, call, length))
            {
                // If End has removed the call, it has also failed it. Otherwise the output was completed before the call was
                // added, and the caller tries again.
                return Remove(id) is null;
            }
        }
        catch
        {
            Remove(id);
            throw;
        }
        call.Sent(this, id);
        return true;
    }

    /// <summary>Cancels a call that its caller no longer waits for.</summary>
    public void Cancel(ulong id)
    {
        if (Remove(id) is not null)
        {
            _output.Write(new FrameHeader(FrameKind.Cancel, id));
        }
    }

    /// <summary>Reads until the connection ends. The calls that are still in flight then fail.</summary>
    public async Task RunAsync()
    {
        var sending = _output.SendAsync();
        var ended = new RpcxException(StatusCode.Unavailable, RpcxReasons.ConnectionLost, Lost("the server closed it"));
        try
        {
            await ReadAsync();
        }
        catch (Exception e) when (e is ProtocolException or IOException or SocketException or ObjectDisposedException)
        {
            ended = new RpcxException(StatusCode.Unavailable, RpcxReasons.ConnectionLost, Lost(e.Message), innerException: e);
        }
        End(ended);
        await sending;
        await _input.CompleteAsync();
    }

    /// <summary>Closes the connection; <see cref="RunAsync"/> then ends.</summary>
    public void Dispose()
    {
        _closing = true;
        _calls.Dispose();
        _socket.Dispose();
    }

    private async Task ReadAsync()
    {
        while (true)
        {
            var read = await _input.ReadAsync();
            var unread = read.Buffer;
            while (FrameReader.TryRead(ref unread, _options.FrameBytesMax, out var header, out var payload))
            {
                Take(header, payload);
            }
            _input.AdvanceTo(unread.Start, unread.End);
            if (read.IsCompleted)
            {
                return;
            }
        }
    }

    private void Take(in FrameHeader header, in ReadOnlySequence<byte> payload)
    {
        switch (header.Kind)
        {
            case FrameKind.Reply:
                Remove(header.CallId)?.Complete(payload);
                break;
            case FrameKind.Error when header.CallId != 0:
                Remove(header.CallId)?.Fail(RpcxException.From(FrameReader.ParseOwn(Error.Parser, payload)));
                break;
            case FrameKind.Error:
                throw new ProtocolException(FrameReader.ParseOwn(Error.Parser, payload).Message);
            case FrameKind.GoAway:
                _goingAway = true;
                RpcxLog.GoingAway(_logger, _options.Address, _calls.Count);
                CompleteIfDrained();
                break;
            default:
                throw new ProtocolException($"a server must not send {header.Kind}");
        }
    }

    private IPendingCall? Remove(ulong id)
    {
        var call = _calls.Remove(id);
        if (call is not null)
        {
            _window.Release();
            CompleteIfDrained();
        }
        return call;
    }

    private void CompleteIfDrained()
    {
        if (_goingAway && _calls.Count == 0)
        {
            _output.Complete();
        }
    }

    private void Expire(ulong id, IPendingCall call)
    {
        _window.Release();
        call.Fail(RpcxClient.OutOfTime());
        _output.Write(new FrameHeader(FrameKind.Cancel, id));
        CompleteIfDrained();
    }

    private bool TryWrite(ulong id, IPendingCall call, int length)
    {
        var method = call.Method.Number;
        if (method > Volatile.Read(ref _namesSent))
        {
            SendNames(method);
        }
        return _output.Write(new FrameHeader(FrameKind.Request, id, method, _clock.MicrosecondsLeft(call.DueAt)), call.Request, length);
    }

    private void SendNames(ushort method)
    {
        lock (_namesGate)
        {
            if (method > _namesSent)
            {
                var names = _methods.From(_namesSent + 1);
                _output.Write(new FrameHeader(FrameKind.Names), names);
                Volatile.Write(ref _namesSent, _namesSent + names.Names.Count);
            }
        }
    }

    private RpcxException TooLarge(string method, int length) => new(
        StatusCode.ResourceExhausted, RpcxReasons.FrameTooLarge,
        $"A request of {length} bytes to {method} is larger than the server's FrameBytesMax, {_requestBytesMax}.");

    private void End(RpcxException exception)
    {
        _output.Complete();
        Dispose();
        var calls = _calls.Close();
        if (calls.Count > 0)
        {
            RpcxLog.ConnectionLost(_logger, _options.Address, calls.Count, exception.Message);
        }
        foreach (var call in calls)
        {
            call.Fail(exception);
        }
        // Callers that wait for a slot continue and find the connection closed.
        _window.Release(int.MaxValue / 2);
    }

    private string Lost(string why) => $"The connection to {_options.Address} is lost: {why}.";
}
