using System.Buffers;
using System.IO.Pipelines;
using System.Net.Sockets;
using Billing.Rpc.Rpcx.Wire;
using Billing.Wire.V1;
using Google.Protobuf;
using Grpc.Core;

namespace Billing.Rpc.Rpcx.Serving;

/// <summary>The connection of one client: reads calls, starts them, and sends each answer as soon as it is available. Every call
/// gets one answer, unless its client has cancelled it.</summary>
internal sealed class ServerConnection : IDisposable
{
    // Answers to calls that end on the read loop are sent in batches of at most this many.
    private const int AnswersHeldMax = 64;

    // How long the server waits for a client to read the last frames before it closes the connection.
    private static readonly TimeSpan CloseTimeout = TimeSpan.FromSeconds(1);

    private readonly Socket _socket;
    private readonly string _peer;
    private readonly PipeReader _input;
    private readonly FrameOutput _output;
    private readonly CallTable<ServerCall> _calls;
    private readonly SemaphoreSlim _room;
    private readonly TaskCompletionSource _drained = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly CallClock _clock;
    private readonly RpcxServerOptions _options;
    private readonly ILogger _logger;
    private readonly MethodNames _methods;
    private ServerCall? _spare;
    private int _replyBytesMax = int.MaxValue;
    private int _answersHeld;
    private int _running;
    private volatile bool _disposed;
    private volatile bool _greeted;
    private volatile bool _stopping;

    public ServerConnection(
        Socket socket, RpcxServerOptions options, Publications publications, CallClock clock, ILogger logger)
    {
        (_socket, _options, _clock, _logger) = (socket, options, clock, logger);
        _peer = socket.RemoteEndPoint?.ToString() ?? "an unknown peer";
        _methods = new MethodNames(publications);
        _input = FrameReader.Over(new NetworkStream(socket, ownsSocket: true));
        _output = new FrameOutput(socket, options.OutputBytesMax);
        _room = new SemaphoreSlim(options.InFlightMax);
        _calls = new CallTable<ServerCall>(clock, Expire);
    }

    /// <summary>Number of calls whose implementation is still running. A call that was cancelled or has expired needs no further
    /// answer, but counts until then.</summary>
    public int CallsInFlight => Volatile.Read(ref _running);

    /// <summary>Serves the connection until it ends.</summary>
    public async Task RunAsync()
    {
        RpcxLog.Accepted(_logger, _peer);
        var sending = _output.SendAsync();
        var reason = "the client closed it";
        try
        {
            Greet(await ReadHelloAsync());
            await ReadAsync();
        }
        catch (ProtocolException e)
        {
            RpcxLog.Refused(_logger, _peer, e.Message);
            await RefuseAsync(e, sending);
            reason = e.Message;
        }
        catch (Exception e) when (e is IOException or SocketException or ObjectDisposedException)
        {
            reason = e.Message;
        }
        catch (Exception e)
        {
            RpcxLog.ConnectionFailed(_logger, e);
            reason = e.Message;
        }
        await EndAsync(sending);
        RpcxLog.Disconnected(_logger, _peer, reason);
    }

    /// <summary>Accepts no further calls and waits until those in flight have ended. The client is expected to close the
    /// connection then.</summary>
    public Task StopAsync()
    {
        _stopping = true;
        if (_greeted)
        {
            _output.Write(new FrameHeader(FrameKind.GoAway));
        }
        // A call that ends now must see that the server is stopping, or be seen to have ended.
        Interlocked.MemoryBarrier();
        CompleteIfDrained();
        return _drained.Task;
    }

    /// <summary>Sends the frames already written and closes the sending side.</summary>
    public void Leave() => _output.Complete();

    /// <summary>Closes the connection at once.</summary>
    public void Dispose()
    {
        _disposed = true;
        _calls.Dispose();
        _socket.Dispose();
        _calls.Close().ForEach(call => call.CancelInBackground());
        // The read loop may be waiting for calls to end instead of for bytes.
        _room.Release();
    }

    /// <summary>Creates a call from the header of a request frame.</summary>
    public ServerCall Begin(in FrameHeader header)
    {
        var call = Interlocked.Exchange(ref _spare, null) ?? new ServerCall();
        var dueAt = _clock.DueAfter(header.MicrosecondsLeft);
        call.Begin(header.CallId, dueAt, _clock.Left(dueAt));
        return call;
    }

    /// <summary>Adds a call that does not end on the read loop to those in flight.</summary>
    /// <exception cref="ProtocolException">Another call in flight has the same id.</exception>
    public void Enter(ServerCall call)
    {
        if (!_calls.TryAdd(call.Id, call, call.DueAt))
        {
            call.CancelInBackground();
            throw new ProtocolException($"call {call.Id} uses an id that is in use");
        }
        call.IsEntered = true;
        Interlocked.Increment(ref _running);
        _room.Wait(CancellationToken.None);
    }

    /// <summary>Sends the reply to a call, unless the call was cancelled or has expired.</summary>
    public void Answer(ServerCall call, string method, IMessage reply)
    {
        var (id, onReadLoop) = (call.Id, !call.IsEntered);
        if (!End(call))
        {
            return;
        }
        try
        {
            var length = reply.CalculateSize();
            if (length <= _replyBytesMax)
            {
                _output.Write(new FrameHeader(FrameKind.Reply, id), reply, length, flush: !onReadLoop || MustFlush());
                return;
            }
            WriteError(id, StatusCode.ResourceExhausted, RpcxReasons.FrameTooLarge,
                $"The reply of {length} bytes is larger than the client's FrameBytesMax, {_replyBytesMax}.");
        }
        catch (Exception e)
        {
            // The reply is null, or another thread changed it while it was being written.
            WriteFailure(id, method, e);
        }
    }

    /// <summary>Sends an error in answer to a call, unless the call was cancelled or has expired.</summary>
    public void Fail(ServerCall call, string method, Exception exception)
    {
        var id = call.Id;
        if (End(call))
        {
            WriteFailure(id, method, exception);
        }
    }

    /// <summary>Ends a call.</summary>
    /// <returns>Whether its answer must still be sent.</returns>
    public bool End(ServerCall call)
    {
        if (call.IsEntered)
        {
            var unanswered = _calls.Remove(call.Id, call) is not null;
            _room.Release();
            Interlocked.Decrement(ref _running);
            CompleteIfDrained();
            return unanswered;
        }
        if (call.TryReset())
        {
            Volatile.Write(ref _spare, call);
        }
        return true;
    }

    /// <summary>Sends the error for a request that cannot be parsed.</summary>
    public void RefuseRequest(ulong id, string method) => WriteError(
        id, StatusCode.InvalidArgument, RpcxReasons.RequestUnreadable, $"The request is not a valid message for {method}.");

    private async Task<RpcxHello> ReadHelloAsync()
    {
        using var timeout = new CancellationTokenSource(_options.HelloTimeout, _clock.Time);
        try
        {
            return await FrameReader.ReadFirstAsync(
                _input, Greeting.BytesMax,
                (header, payload) => header.Kind == FrameKind.Hello
                    ? Greeting.Read(payload)
                    : throw new ProtocolException($"its first frame is {header.Kind} instead of Hello"),
                timeout.Token);
        }
        catch (OperationCanceledException)
        {
            throw new ProtocolException($"it sent no greeting within {_options.HelloTimeout} (HelloTimeout)");
        }
    }

    private void Greet(RpcxHello hello)
    {
        _replyBytesMax = (int)Math.Clamp(hello.FrameBytesMax, 0, int.MaxValue / 2);
        if (hello.Methods is { } names)
        {
            _methods.Add(names);
        }
        _output.Write(
            new FrameHeader(FrameKind.Welcome),
            new RpcxWelcome { FrameBytesMax = (uint)_options.FrameBytesMax, InFlightMax = (uint)_options.InFlightMax });
        _greeted = true;
        if (_stopping)
        {
            _output.Write(new FrameHeader(FrameKind.GoAway));
        }
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
                if (_room.CurrentCount == 0 || !_output.HasCapacity)
                {
                    await WaitForCapacityAsync();
                }
            }
            _input.AdvanceTo(unread.Start, unread.End);
            FlushHeld();
            if (read.IsCompleted)
            {
                return;
            }
        }
    }

    private async Task WaitForCapacityAsync()
    {
        FlushHeld();
        await _room.WaitAsync();
        _room.Release();
        await _output.WaitForCapacityAsync();
        ObjectDisposedException.ThrowIf(_disposed, this);
    }

    private void Take(in FrameHeader header, in ReadOnlySequence<byte> payload)
    {
        switch (header.Kind)
        {
            case FrameKind.Request:
                Start(header, payload);
                break;
            case FrameKind.Cancel:
                _calls.Remove(header.CallId)?.CancelInBackground();
                break;
            case FrameKind.Names:
                _methods.Add(FrameReader.ParseOwn(RpcxMethodNames.Parser, payload));
                break;
            default:
                throw new ProtocolException($"a client must not send {header.Kind} here");
        }
    }

    private void Start(in FrameHeader header, in ReadOnlySequence<byte> payload)
    {
        if (header.CallId == 0)
        {
            throw new ProtocolException("a call has the id 0");
        }
        var (name, method) = _methods.Find(header.Method);
        if (_stopping)
        {
            WriteError(header.CallId, StatusCode.Unavailable, RpcxReasons.ShuttingDown, "The server is shutting down.");
        }
        else if (method is null)
        {
            WriteError(header.CallId, StatusCode.Unimplemented, RpcxReasons.MethodUnknown, $"The server publishes no {name}.");
        }
        else
        {
            method.Start(this, header, payload);
        }
    }

    private void CompleteIfDrained()
    {
        if (_stopping && CallsInFlight == 0)
        {
            _drained.TrySetResult();
        }
    }

    private bool MustFlush()
    {
        _answersHeld = (_answersHeld + 1) % AnswersHeldMax;
        return _answersHeld == 0;
    }

    private void FlushHeld()
    {
        if (_answersHeld > 0)
        {
            _answersHeld = 0;
            _output.Flush();
        }
    }

    private void Expire(ulong id, ServerCall call)
    {
        WriteError(id, StatusCode.DeadlineExceeded, RpcxReasons.NoAnswerInTime, "The deadline passed before the call ended.");
        call.CancelInBackground();
    }

    private void WriteFailure(ulong id, string method, Exception exception)
    {
        switch (exception)
        {
            case RpcxException e:
                WriteError(id, e.StatusCode, e.Reason, e.Message, e.Field);
                break;
            case OperationCanceledException:
                WriteError(id, StatusCode.Cancelled, RpcxReasons.HandlerCancelled, $"{method} cancelled the call.");
                break;
            default:
                RpcxLog.HandlerFailed(_logger, method, exception);
                WriteError(id, StatusCode.Internal, RpcxReasons.HandlerFailed, $"{method} failed; the server's log has the reason.");
                break;
        }
    }

    private void WriteError(ulong id, StatusCode status, string reason, string message, string field = "")
    {
        var error = new Error { StatusCode = (int)status, Reason = reason, Message = message, Field = field };
        _output.Write(new FrameHeader(FrameKind.Error, id), error);
    }

    /// <summary>Sends the client the reason why its connection ends, and waits a moment for it to read that: closing a socket
    /// with unread input resets the connection, which can discard the error frame.</summary>
    private async Task RefuseAsync(ProtocolException e, Task sending)
    {
        WriteError(0, StatusCode.Internal, e.Reason, e.Message);
        _output.Complete();
        using var timeout = new CancellationTokenSource(CloseTimeout, _clock.Time);
        try
        {
            await sending.WaitAsync(timeout.Token);
            while (await _input.ReadAsync(timeout.Token) is { IsCompleted: false } read)
            {
                _input.AdvanceTo(read.Buffer.End);
            }
        }
        catch (Exception ended) when (ended is OperationCanceledException or IOException or InvalidOperationException)
        {
            // The client has closed the connection or did not read the error in time.
        }
    }

    private async Task EndAsync(Task sending)
    {
        _calls.Close().ForEach(call => call.CancelInBackground());
        _output.Complete();
        using (var timeout = new CancellationTokenSource(CloseTimeout, _clock.Time))
        {
            await sending.WaitAsync(timeout.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
        Dispose();
        await sending;
        await _input.CompleteAsync();
    }
}
