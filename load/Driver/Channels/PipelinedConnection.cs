using System.IO.Pipelines;
using System.Net.Sockets;
using System.Threading.Channels;

namespace Billing.Driver.Channels;

/// <summary>One HTTP/1.1 connection with its requests in flight, oldest first: a request is sent before the previous
/// ones are answered, and responses arrive in the order of the requests (RFC 9112, section 9.3.2).</summary>
internal sealed class PipelinedConnection : IAsyncDisposable
{
    private readonly Socket _socket = new(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
    private readonly Channel<byte[]> _outgoing = Channel.CreateUnbounded<byte[]>(
        new UnboundedChannelOptions { SingleReader = true });
    private readonly Queue<TaskCompletionSource<HttpAnswer>> _waiting = new();
    private readonly Task _running;
    private bool _ended;

    public PipelinedConnection(Uri server) => _running = RunAsync(server);

    public bool HasEnded
    {
        get
        {
            lock (_waiting)
            {
                return _ended;
            }
        }
    }

    public Task<HttpAnswer> SendAsync(byte[] request)
    {
        var waiting = new TaskCompletionSource<HttpAnswer>(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_waiting)
        {
            if (_ended)
            {
                return Task.FromResult(HttpAnswer.Failed("connection closed"));
            }
            _waiting.Enqueue(waiting);
            _outgoing.Writer.TryWrite(request);
        }
        return waiting.Task;
    }

    public async ValueTask DisposeAsync()
    {
        _outgoing.Writer.TryComplete();
        _socket.Dispose();
        await _running;
    }

    private async Task RunAsync(Uri server)
    {
        var reason = "connection closed";
        try
        {
            await _socket.ConnectAsync(server.Host, server.Port);
            await using var stream = new NetworkStream(_socket);
            var writing = WriteAsync(PipeWriter.Create(stream));
            await ReadAsync(PipeReader.Create(stream));
            _outgoing.Writer.TryComplete();
            await writing;
        }
        catch (Exception e) when (e is SocketException or IOException or ObjectDisposedException)
        {
            reason = e is SocketException socket ? socket.SocketErrorCode.ToString() : reason;
        }
        catch (InvalidDataException e)
        {
            reason = e.Message;
        }
        _outgoing.Writer.TryComplete();
        lock (_waiting)
        {
            _ended = true;
            while (_waiting.TryDequeue(out var waiting))
            {
                waiting.TrySetResult(HttpAnswer.Failed(reason));
            }
        }
    }

    private async Task WriteAsync(PipeWriter writer)
    {
        // Queued requests are sent together.
        while (await _outgoing.Reader.WaitToReadAsync())
        {
            while (_outgoing.Reader.TryRead(out var request))
            {
                request.CopyTo(writer.GetSpan(request.Length));
                writer.Advance(request.Length);
            }
            await writer.FlushAsync();
        }
    }

    private async Task ReadAsync(PipeReader reader)
    {
        while (true)
        {
            var result = await reader.ReadAsync();
            var buffer = result.Buffer;
            while (HttpAnswer.TryRead(ref buffer, out var answer))
            {
                Complete(answer);
            }
            reader.AdvanceTo(buffer.Start, buffer.End);
            if (result.IsCompleted)
            {
                return;
            }
        }
    }

    private void Complete(HttpAnswer answer)
    {
        lock (_waiting)
        {
            (_waiting.TryDequeue(out var waiting)
                ? waiting
                : throw new InvalidDataException("response without a request")).TrySetResult(answer);
        }
    }
}
