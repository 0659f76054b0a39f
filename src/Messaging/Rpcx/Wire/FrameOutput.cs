using System.IO.Pipelines;
using System.Net.Sockets;
using Google.Protobuf;

namespace Billing.Messaging.Rpcx.Wire;

/// <summary>What waits to be sent on one connection. Any thread writes frames, each straight into the pipe's buffers; one loop
/// sends. While it sends, frames gather, so the busier the connection, the more of them go with one call of the system.
/// </summary>
/// <param name="socket">The connection.</param>
/// <param name="unsentMax">Bytes above which writers are asked to wait.</param>
internal sealed class FrameOutput(Socket socket, int unsentMax)
{
    private const int SegmentBytes = 32 << 10;

    private readonly Lock _gate = new();

    // Never paused by the pipe itself: an answer is always taken, and whoever makes new work asks HasRoom before.
    private readonly Pipe _pipe = new(new PipeOptions(
        readerScheduler: PipeScheduler.ThreadPool,
        pauseWriterThreshold: 0,
        minimumSegmentSize: SegmentBytes,
        useSynchronizationContext: false));

    private TaskCompletionSource? _roomMade;
    private long _unsent;
    private bool _completed;

    /// <summary>Whether new work may be written, as far as what waits to be sent is concerned.</summary>
    public bool HasRoom => Volatile.Read(ref _unsent) <= unsentMax;

    /// <summary>Writes a frame without a payload.</summary>
    /// <returns>False where the output is completed.</returns>
    public bool Write(in FrameHeader header)
    {
        lock (_gate)
        {
            if (_completed)
            {
                return false;
            }
            header.Write(_pipe.Writer.GetSpan(FrameHeader.Bytes), 0);
            Written(FrameHeader.Bytes, flush: true);
            return true;
        }
    }

    /// <summary>Writes a frame with bytes.</summary>
    /// <returns>False where the output is completed.</returns>
    public bool Write(in FrameHeader header, ReadOnlySpan<byte> payload)
    {
        lock (_gate)
        {
            if (_completed)
            {
                return false;
            }
            var frame = _pipe.Writer.GetSpan(FrameHeader.Bytes + payload.Length);
            header.Write(frame, payload.Length);
            payload.CopyTo(frame[FrameHeader.Bytes..]);
            Written(FrameHeader.Bytes + payload.Length, flush: true);
            return true;
        }
    }

    /// <summary>Writes a frame with a message.</summary>
    /// <param name="header">The header; the length is filled in.</param>
    /// <param name="payload">The message.</param>
    /// <param name="length">Its size, as it says itself.</param>
    /// <param name="flush">Whether it is sent at once; else with the next frame or at <see cref="Flush"/>.</param>
    /// <returns>False where the output is completed.</returns>
    public bool Write<T>(in FrameHeader header, T payload, int length, bool flush = true)
        where T : IMessage<T>
    {
        lock (_gate)
        {
            if (_completed)
            {
                return false;
            }
            // A message that another thread changes meanwhile throws here, and nothing of it is sent.
            var frame = _pipe.Writer.GetSpan(FrameHeader.Bytes + length)[..(FrameHeader.Bytes + length)];
            header.Write(frame, length);
            payload.WriteTo(frame[FrameHeader.Bytes..]);
            Written(frame.Length, flush);
            return true;
        }
    }

    /// <summary>Sends what was written without being sent.</summary>
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

    /// <summary>Completes when new work may be written, or the output is completed.</summary>
    public Task RoomAsync()
    {
        lock (_gate)
        {
            if (_completed || HasRoom)
            {
                return Task.CompletedTask;
            }
            _roomMade ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            return _roomMade.Task;
        }
    }

    /// <summary>Takes no more; what was written is still sent.</summary>
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

    /// <summary>Sends until the output is completed and all of it is sent, and then tells the other end that nothing follows.
    /// Where the connection is lost, closes it, which its reader notices.</summary>
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

    private void Written(int bytes, bool flush)
    {
        _pipe.Writer.Advance(bytes);
        Volatile.Write(ref _unsent, _unsent + bytes);
        if (flush)
        {
            FlushPipe();
        }
    }

    private void FlushPipe()
    {
        // Without a threshold it never waits.
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
            if (_unsent <= unsentMax / 2)
            {
                (roomMade, _roomMade) = (_roomMade, null);
            }
        }
        roomMade?.TrySetResult();
    }
}
