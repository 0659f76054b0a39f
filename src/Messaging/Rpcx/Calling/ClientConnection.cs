using System.Buffers;
using System.IO.Pipelines;
using System.Net.Sockets;
using Billing.Messaging.Rpcx.Wire;
using Billing.Wire.V1;
using Google.Protobuf;
using Grpc.Core;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Rpcx.Calling;

/// <summary>A greeted connection to a server, with the calls that wait on it.</summary>
internal sealed class ClientConnection : IDisposable
{
    private readonly Socket _socket;
    private readonly PipeReader _input;
    private readonly FrameOutput _output;
    private readonly PendingCalls _calls = new();
    private readonly CallClock _clock;
    private readonly DeadlineTimer _deadlines;
    private readonly SemaphoreSlim _window;
    private readonly Lock _naming = new();
    private readonly RpcxClientOptions _options;
    private readonly MethodNumbers _methods;
    private readonly ILogger _logger;
    private readonly int _requestBytesMax;
    private int _named;
    private volatile bool _goingAway;
    private volatile bool _closing;

    public ClientConnection(
        Socket socket, PipeReader input, FrameOutput output, RpcxWelcome welcome, int named,
        RpcxClientOptions options, MethodNumbers methods, CallClock clock, ILogger logger)
    {
        (_socket, _input, _output, _named) = (socket, input, output, named);
        (_options, _methods, _logger) = (options, methods, logger);
        _clock = clock;
        _deadlines = new DeadlineTimer(clock, Expire);
        _window = new SemaphoreSlim((int)Math.Clamp(welcome.InFlightMax, 1, int.MaxValue / 4));
        _requestBytesMax = (int)Math.Clamp(welcome.FrameBytesMax, 0, 1 << 30);
    }

    /// <summary>Whether further calls may be sent.</summary>
    public bool IsOpen => !_goingAway && !_closing;

    /// <summary>Takes a place in the server's window without waiting. Whoever has one calls <see cref="TrySend"/>.</summary>
    public bool TryTakePlace() => _output.HasRoom && _window.Wait(0, CancellationToken.None);

    /// <summary>Takes a place in the server's window, or finds the connection closed.</summary>
    public async Task TakePlaceAsync(CancellationToken cancellationToken)
    {
        await _window.WaitAsync(cancellationToken);
        try
        {
            await _output.RoomAsync().WaitAsync(cancellationToken);
        }
        catch (OperationCanceledException)
        {
            _window.Release();
            throw;
        }
    }

    /// <summary>Sends a call for which there is a place.</summary>
    /// <returns>False where the connection takes no further calls, and nothing was sent.</returns>
    /// <exception cref="RpcxException">The request is too long.</exception>
    public bool TrySend<TRequest, TReply>(
        RemoteMethod<TRequest, TReply> method, TRequest request, PendingCall<TReply> call, long dueAt)
        where TRequest : class, IMessage<TRequest>
        where TReply : class, IMessage<TReply>, new()
    {
        var length = request.CalculateSize();
        if (length > _requestBytesMax || !IsOpen || !_calls.TryEnter(call, dueAt, out var id))
        {
            _window.Release();
            return length > _requestBytesMax ? throw TooLong(method.Name, length) : false;
        }
        try
        {
            if (!TryWrite(method.Number, id, dueAt, request, length))
            {
                // Whoever closed the connection has failed the call, unless it was left before the call was entered.
                return TakeOut(id) is null;
            }
        }
        catch
        {
            TakeOut(id);
            throw;
        }
        _deadlines.Set(dueAt);
        call.Sent(this, id);
        return true;
    }

    /// <summary>The caller of a call has gone.</summary>
    public void Cancel(ulong id)
    {
        if (TakeOut(id) is not null)
        {
            _output.Write(new FrameHeader(FrameKind.Cancel, id));
        }
    }

    /// <summary>Reads until the connection ends. Every call that waits then, fails.</summary>
    public async Task RunAsync()
    {
        var sending = _output.SendAsync();
        var ended = new RpcxException(StatusCode.Unavailable, RpcxReasons.ConnectionLost, Lost("the server closed it"));
        try
        {
            await ReadAsync();
        }
        catch (RpcxException e)
        {
            ended = e;
        }
        catch (ProtocolException e)
        {
            ended = new RpcxException(StatusCode.Unavailable, RpcxReasons.ConnectionLost, Lost(e.Message));
        }
        catch (Exception e) when (e is IOException or SocketException or ObjectDisposedException)
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
        _deadlines.Dispose();
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
                TakeOut(header.CallId)?.Complete(payload);
                break;
            case FrameKind.Error when header.CallId != 0:
                TakeOut(header.CallId)?.Fail(RpcxException.From(ReadError(payload)));
                break;
            case FrameKind.Error:
                throw new ProtocolException(ReadError(payload).Message);
            case FrameKind.GoAway:
                _goingAway = true;
                RpcxLog.GoingAway(_logger, _options.Address, _calls.Count);
                LeaveIfDone();
                break;
            default:
                throw new ProtocolException($"a server does not send {header.Kind}");
        }
    }

    /// <summary>Reads an error frame's payload.</summary>
    /// <exception cref="ProtocolException">It is none.</exception>
    internal static Error ReadError(in ReadOnlySequence<byte> payload)
    {
        try
        {
            return Error.Parser.ParseFrom(payload);
        }
        catch (InvalidProtocolBufferException e)
        {
            throw new ProtocolException("an error frame holds no Error: " + e.Message);
        }
    }

    private IPendingCall? TakeOut(ulong id)
    {
        var call = _calls.Take(id);
        if (call is not null)
        {
            _window.Release();
            LeaveIfDone();
        }
        return call;
    }

    private void LeaveIfDone()
    {
        if (_goingAway && _calls.Count == 0)
        {
            _output.Complete();
        }
    }

    private long Expire(long now)
    {
        var overdue = new List<(ulong Id, IPendingCall Call)>();
        var next = _calls.TakeOverdue(now, overdue);
        foreach (var (id, call) in overdue)
        {
            _window.Release();
            call.Fail(RpcxClient.OutOfTime());
            _output.Write(new FrameHeader(FrameKind.Cancel, id));
        }
        LeaveIfDone();
        return next;
    }

    private bool TryWrite<TRequest>(ushort method, ulong id, long dueAt, TRequest request, int length)
        where TRequest : class, IMessage<TRequest>
    {
        if (method > Volatile.Read(ref _named))
        {
            NameMethods(method);
        }
        var header = new FrameHeader(FrameKind.Request, id, method, _clock.MicrosecondsLeft(dueAt));
        return _output.Write(header, request, length);
    }

    private void NameMethods(ushort method)
    {
        lock (_naming)
        {
            if (method > _named)
            {
                var names = _methods.From(_named + 1);
                _output.Write(new FrameHeader(FrameKind.Names), names, names.CalculateSize());
                Volatile.Write(ref _named, _named + names.Names.Count);
            }
        }
    }

    private RpcxException TooLong(string method, int length) => new(
        StatusCode.ResourceExhausted, RpcxReasons.FrameTooLarge,
        $"A request of {length} bytes to {method} is above the server's FrameBytesMax, {_requestBytesMax}.");

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
        // Whoever waits for a place finds the connection closed.
        _window.Release(int.MaxValue / 2);
    }

    private string Lost(string why) => $"The connection to {_options.Address} is lost: {why}.";
}
