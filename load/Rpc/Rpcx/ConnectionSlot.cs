using System.Net.Sockets;
using Grpc.Core;

namespace Billing.Rpc.Rpcx;

/// <summary>One of a client's connections. It is opened when a call needs it, and again after it is lost;
/// after a failed attempt, only when the back-off has passed.</summary>
internal sealed partial class ConnectionSlot(
    RpcxClientOptions options, TimeProvider time, ILogger logger, CancellationToken disposed)
{
    private readonly Uri _address = new("rpcx://" + options.Address);
    private readonly Lock _gate = new();
    private volatile Task<ClientConnection>? _latest;
    private Task _running = Task.CompletedTask;
    private long _failed;

    /// <summary>The connection, if it is open for calls; otherwise null.</summary>
    public ClientConnection? Open =>
        _latest is { IsCompletedSuccessfully: true, Result: { IsOpen: true } open } ? open : null;

    /// <summary>Returns the connection; opens it if necessary.</summary>
    /// <exception cref="RpcxException">It cannot be opened now; UNAVAILABLE.</exception>
    public Task<ClientConnection> OpenAsync()
    {
        lock (_gate)
        {
            var isCurrent = Open is not null || _latest is { IsCompleted: false }
                || (_latest is { IsFaulted: true }
                    && time.GetElapsedTime(Volatile.Read(ref _failed)) < options.Backoff);
            if (!isCurrent)
            {
                // A connection serves many callers, so it must not inherit the first caller's execution context.
                using (ExecutionContext.SuppressFlow())
                {
                    _latest = Task.Run(ConnectAsync, CancellationToken.None);
                }
            }
            return _latest!;
        }
    }

    /// <summary>Closes the connection, after the client is marked as disposed.</summary>
    public async Task CloseAsync()
    {
        await (_latest ?? Task.CompletedTask).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        Open?.Dispose();
        await _running;
    }

    private async Task<ClientConnection> ConnectAsync()
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
        using var timeout = new CancellationTokenSource(options.ConnectTimeout, time);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, disposed);
        try
        {
            FrameOutput.Prepare(socket);
            await socket.ConnectAsync(_address.DnsSafeHost, _address.Port, stop.Token);
        }
        catch (Exception e) when (e is SocketException or OperationCanceledException)
        {
            socket.Dispose();
            Volatile.Write(ref _failed, time.GetTimestamp());
            var why = e is SocketException ? e.Message
                : disposed.IsCancellationRequested ? "the client is disposed"
                : $"no answer within {options.ConnectTimeout}";
            ConnectFailed(options.Address, why);
            throw new RpcxException(StatusCode.Unavailable, $"Cannot connect to {options.Address}: {why}.", e);
        }
        var connection = new ClientConnection(socket, options.Address);
        _running = Task.WhenAll(_running, connection.RunAsync());
        return connection;
    }

    [LoggerMessage(311, LogLevel.Warning, "Cannot connect to {Address}: {Reason}")]
    private partial void ConnectFailed(string address, string reason);
}
