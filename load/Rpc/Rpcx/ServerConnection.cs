using System.Buffers;
using System.Net.Sockets;
using Billing.Wire.V1;
using Google.Protobuf;
using Grpc.Core;

namespace Billing.Rpc.Rpcx;

/// <summary>The connection of one client: reads calls, starts them, and sends each answer as soon as it is available.
/// Every call gets one answer.</summary>
internal sealed partial class ServerConnection(
    Socket socket, IReadOnlyDictionary<uint, ServerMethod> methods, int inFlightMax, ILogger logger,
    CancellationToken stopping) : IDisposable
{
    // So many answers at most are sent together.
    private const int AnswersHeldMax = 64;
    private static readonly TimeSpan CloseTimeout = TimeSpan.FromSeconds(1);

    private readonly string _peer = socket.RemoteEndPoint?.ToString() ?? "";
    private readonly FrameOutput _output = new(socket);
    private readonly SemaphoreSlim _room = new(inFlightMax);
    private int _answersHeld;

    /// <summary>Serves the connection until it ends.</summary>
    public async Task RunAsync()
    {
        var sending = _output.SendAsync();
        try
        {
            await FrameReader.ReadAllAsync(socket, TakeAsync, FlushHeld);
        }
        catch (ProtocolException e)
        {
            Refused(_peer, e.Message);
        }
        catch (Exception e) when (e is IOException or SocketException or ObjectDisposedException)
        {
            // The connection is lost.
        }
        // A client that has only closed its sending side still gets the answers that are there.
        _output.Complete();
        await sending.WaitAsync(CloseTimeout).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        Dispose();
        await sending;
    }

    /// <summary>Waits until the calls in flight have been answered, and tells the client that no more will come.
    /// The server stops already: further calls are refused.</summary>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        for (var free = 0; free < inFlightMax; free++)
        {
            await _room.WaitAsync(cancellationToken);
        }
        _output.Complete();
    }

    /// <summary>Closes the connection at once.</summary>
    public void Dispose()
    {
        _output.Complete();
        socket.Dispose();
        // The read loop may be waiting for calls to end instead of for bytes.
        _room.Release();
    }

    /// <summary>Ends a call with its reply.</summary>
    /// <param name="method">Its method, for messages.</param>
    /// <param name="isHeld">Whether the reply may be sent together with others; on the read loop only.</param>
    public void Answer(ulong id, string method, IMessage reply, bool isHeld)
    {
        try
        {
            var length = reply.CalculateSize();
            if (length > FrameHeader.PayloadMax)
            {
                throw new RpcxException(
                    StatusCode.ResourceExhausted,
                    $"The reply of {length} bytes is longer than {FrameHeader.PayloadMax}.");
            }
            _output.Write(new FrameHeader(FrameKind.Reply, id, 0, length), reply, flush: !isHeld
                || ++_answersHeld % AnswersHeldMax == 0);
        }
        catch (Exception e)
        {
            // The reply is null, or another thread changed it while it was being written.
            Fail(id, method, e);
            return;
        }
        _room.Release();
    }

    /// <summary>Ends a call with an error.</summary>
    public void Fail(ulong id, string method, Exception exception)
    {
        if (exception is RpcxException known)
        {
            WriteError(id, known.StatusCode, known.Message);
        }
        else
        {
            HandlerFailed(method, exception);
            WriteError(id, StatusCode.Internal, $"{method} failed; the server's log has the reason.");
        }
        _room.Release();
    }

    private ValueTask TakeAsync(FrameHeader header, ReadOnlySequence<byte> payload)
    {
        if (header.Kind != FrameKind.Request)
        {
            throw new ProtocolException($"a client must not send {header.Kind}");
        }
        if (stopping.IsCancellationRequested)
        {
            WriteError(header.CallId, StatusCode.Unavailable, "The server is shutting down.");
        }
        else if (!methods.TryGetValue(header.Method, out var method))
        {
            WriteError(header.CallId, StatusCode.Unimplemented, $"The server publishes no method {header.Method:x8}.");
        }
        else if (_output.HasCapacity && _room.Wait(0, CancellationToken.None))
        {
            method.Start(this, header.CallId, payload);
        }
        else
        {
            return StartLaterAsync(method, header.CallId, payload);
        }
        return ValueTask.CompletedTask;
    }

    // Until then nothing more is read: the client has too many calls in flight, or does not read its answers.
    private async ValueTask StartLaterAsync(ServerMethod method, ulong id, ReadOnlySequence<byte> payload)
    {
        FlushHeld();
        await _output.WaitForCapacityAsync();
        await _room.WaitAsync();
        method.Start(this, id, payload);
    }

    private void FlushHeld()
    {
        if (_answersHeld > 0)
        {
            _answersHeld = 0;
            _output.Flush();
        }
    }

    private void WriteError(ulong id, StatusCode status, string message)
    {
        var error = new Error { StatusCode = (int)status, Message = message };
        _output.Write(new FrameHeader(FrameKind.Error, id, 0, error.CalculateSize()), error);
    }

    [LoggerMessage(303, LogLevel.Warning, "Closed the connection of {Peer}: {Reason}")]
    private partial void Refused(string peer, string reason);

    [LoggerMessage(304, LogLevel.Error, "The implementation of {Method} failed")]
    private partial void HandlerFailed(string method, Exception exception);
}
