using System.Globalization;
using System.IO.Pipelines;
using System.Net.Sockets;
using System.Text;
using System.Threading.Channels;
using Billing.V1;

namespace Billing.Measuring.Driving;

/// <summary>Sends HTTP/1.1 requests in JSON, pipelined on one connection: a request is sent before the previous ones are
/// answered, and responses arrive in the order of the requests (RFC 9112, section 9.3.2). When the connection breaks, the
/// requests in flight fail, and the next request opens a new connection.</summary>
internal sealed class RestChannel(string address) : IRequestChannel
{
    private readonly Uri _server = new(address);
    private readonly Lock _opening = new();
    private PipelinedConnection? _connection;

    public Task<RequestOutcome> PayAsync(MakePaymentRequest request)
    {
        var amount = request.Amount;
        var body = string.Create(CultureInfo.InvariantCulture,
            $$$"""{"account_id":"{{{request.AccountId}}}","payment_type":"{{{request.PaymentType}}}","amount":{"currency_code":"{{{amount.CurrencyCode}}}","units":{{{amount.Units}}},"nanos":{{{amount.Nanos}}}}}""");
        return SendAsync(string.Create(CultureInfo.InvariantCulture,
            $"PUT /v1/payments/{request.TransactionId} HTTP/1.1\r\nHost: {_server.Authority}\r\nContent-Type: application/json\r\nContent-Length: {body.Length}\r\n\r\n{body}"));
    }

    public Task<RequestOutcome> CheckAsync(CheckBalanceRequest request) => SendAsync(
        $"GET /v1/accounts/{request.PaymentType}/{request.AccountId}/balance HTTP/1.1\r\nHost: {_server.Authority}\r\n\r\n");

    public async ValueTask DisposeAsync()
    {
        if (_connection is { } connection)
        {
            await connection.DisposeAsync();
        }
    }

    private Task<RequestOutcome> SendAsync(string request)
    {
        lock (_opening)
        {
            if (_connection is null or { HasEnded: true })
            {
                _connection = new PipelinedConnection(_server);
            }
            return _connection.SendAsync(Encoding.ASCII.GetBytes(request));
        }
    }
}

/// <summary>One connection with its requests in flight, oldest first.</summary>
internal sealed class PipelinedConnection : IAsyncDisposable
{
    private readonly Socket _socket = new(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
    private readonly Channel<byte[]> _outgoing = Channel.CreateUnbounded<byte[]>(new UnboundedChannelOptions { SingleReader = true });
    private readonly Queue<TaskCompletionSource<RequestOutcome>> _waiting = new();
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

    public Task<RequestOutcome> SendAsync(byte[] request)
    {
        var waiting = new TaskCompletionSource<RequestOutcome>(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_waiting)
        {
            if (_ended)
            {
                return Task.FromResult(RequestOutcome.Failed("connection closed"));
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
                waiting.TrySetResult(RequestOutcome.Failed(reason));
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
        TaskCompletionSource<RequestOutcome>? waiting;
        lock (_waiting)
        {
            if (!_waiting.TryDequeue(out waiting))
            {
                throw new InvalidDataException("response without a request");
            }
        }
        waiting.TrySetResult(answer.Status is >= 200 and < 300
            ? RequestOutcome.Answered(answer.IsDecline)
            : RequestOutcome.Failed(answer.Status.ToString(CultureInfo.InvariantCulture)));
    }
}
