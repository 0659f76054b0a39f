using System.IO.Pipelines;
using System.Net.Sockets;
using Google.Protobuf;

namespace Billing.Rpc.Rpcx;

/// <summary>The output queue of one connection. Any thread may write frames, directly into the pipe's buffers; one
/// loop sends them. Frames written during a send are sent together next, so that a busier connection sends more
/// frames per system call.</summary>
/// <param name="socket">The connection.</param>
internal sealed class FrameOutput(Socket socket)
{
    // Above so many unsent bytes, writers should wait.
    private const int UnsentMax = 1 << 20;
    private const int SegmentBytes = 32 << 10;

    private readonly Lock _gate = new();

    // The pipe itself never blocks writers: answers are always accepted, and writers of new requests check
    // HasCapacity first.
    private readonly Pipe _pipe = new(new PipeOptions(
        readerScheduler: PipeScheduler.ThreadPool,
        pauseWriterThreshold: 0,
        minimumSegmentSize: SegmentBytes,
        useSynchronizationContext: false));

    private TaskCompletionSource? _roomMade;
    private long _unsent;
    private bool _completed;

    /// <summary>Sends small frames without delay, and lets the system find out within a minute that the
    /// other end is gone.</summary>
    public static void Prepare(Socket socket)
    {
        socket.NoDelay = true;
        socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, true);
        socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveTime, 30);
        socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveInterval, 5);
        socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveRetryCount, 3);
    }

    /// <summary>Whether the unsent bytes are within the limit, so that new requests may be written.</summary>
    public bool HasCapacity => Volatile.Read(ref _unsent) <= UnsentMax;

    /// <summary>Writes a frame.</summary>
    /// <param name="header">The header, with the length of the payload.</param>
    /// <param name="payload">The message.</param>
    /// <param name="flush">Whether to send it immediately; otherwise it is sent with the next flushed frame or by
    /// <see cref="Flush"/>.</param>
    /// <returns>False if the output is completed.</returns>
    public bool Write(in FrameHeader header, IMessage payload, bool flush = true)
    {
        lock (_gate)
        {
            if (_completed)
            {
                return false;
            }
            // WriteTo throws if another thread changes the message meanwhile; nothing of the frame is then sent.
            var frame = _pipe.Writer.GetSpan(FrameHeader.Bytes + header.Length)[..(FrameHeader.Bytes + header.Length)];
            header.Write(frame);
            payload.WriteTo(frame[FrameHeader.Bytes..]);
            _pipe.Writer.Advance(frame.Length);
            Volatile.Write(ref _unsent, _unsent + frame.Length);
            if (flush)
            {
                FlushPipe();
            }
            return true;
        }
    }

    /// <summary>Sends the frames that were written without a flush.</summary>
    public void Flush()
    {
        lock (_gate)
        {
            if (!_completed)
            {
                FlushPipe();
            }
        }
    }

    /// <summary>Completes when new requests may be written or the output is completed.</summary>
    public Task WaitForCapacityAsync()
    {
        lock (_gate)
        {
            if (_completed || HasCapacity)
            {
                return Task.CompletedTask;
            }
            _roomMade ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            return _roomMade.Task;
        }
    }

    /// <summary>Accepts no further frames; those already written are still sent.</summary>
    public void Complete()
    {
        TaskCompletionSource? roomMade;
        lock (_gate)
        {
            if (_completed)
            {
                return;
            }
            _completed = true;
            _pipe.Writer.Complete();
            (roomMade, _roomMade) = (_roomMade, null);
        }
        roomMade?.TrySetResult();
    }

    /// <summary>Sends until the output is completed and everything is sent, and then shuts down the sending side of the
    /// socket. If the connection is lost, closes the socket, which also ends its reader.</summary>
    public async Task SendAsync()
    {
        try
        {
            await SendAllAsync();
            socket.Shutdown(SocketShutdown.Send);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            socket.Dispose();
        }
        finally
        {
            Complete();
            await _pipe.Reader.CompleteAsync();
        }
    }

    private async Task SendAllAsync()
    {
        while (true)
        {
            var read = await _pipe.Reader.ReadAsync();
            foreach (var segment in read.Buffer)
            {
                for (var unsent = segment; unsent.Length > 0;)
                {
                    unsent = unsent[await socket.SendAsync(unsent, SocketFlags.None)..];
                }
            }
            var sent = read.Buffer.Length;
            _pipe.Reader.AdvanceTo(read.Buffer.End);
            Sent(sent);
            if (read.IsCompleted)
            {
                return;
            }
        }
    }

    private void FlushPipe()
    {
        // Without a pause threshold, FlushAsync never waits.
        var flushed = _pipe.Writer.FlushAsync();
        if (flushed.IsCompletedSuccessfully)
        {
            flushed.GetAwaiter().GetResult();
        }
    }

    private void Sent(long bytes)
    {
        TaskCompletionSource? roomMade = null;
        lock (_gate)
        {
            Volatile.Write(ref _unsent, _unsent - bytes);
            if (_unsent <= UnsentMax / 2)
            {
                (roomMade, _roomMade) = (_roomMade, null);
            }
        }
        roomMade?.TrySetResult();
    }
}
