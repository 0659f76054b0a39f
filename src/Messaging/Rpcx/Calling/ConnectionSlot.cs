using Grpc.Core;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Rpcx.Calling;

/// <summary>One of a client's connections: made when a call needs it, made again when it is lost, and after a failure not before
/// a while has passed.</summary>
internal sealed class ConnectionSlot(
    Connector connector, RpcxClientOptions options, CallClock clock, ILogger logger, CancellationToken disposed)
{
    private readonly Lock _gate = new();
    private volatile ClientConnection? _connection;
    private Task<ClientConnection?>? _connecting;
    private Task _running = Task.CompletedTask;
    private RpcxException? _failure;
    private TimeSpan _backoff;
    private long _failsUntil;

    /// <summary>The connection, where there is one that takes calls.</summary>
    public ClientConnection? Open => _connection is { IsOpen: true } connection ? connection : null;

    /// <summary>The connection, made if need be.</summary>
    /// <returns>Null where there is none to be had now; <see cref="Failure"/> says why.</returns>
    public Task<ClientConnection?> OpenAsync()
    {
        lock (_gate)
        {
            if (_connecting is not null)
            {
                return _connecting;
            }
            if (Open is { } open)
            {
                return Task.FromResult<ClientConnection?>(open);
            }
            if (disposed.IsCancellationRequested || (_failure is not null && clock.Now < _failsUntil))
            {
                return Task.FromResult<ClientConnection?>(null);
            }
            // Each of those who wait goes on for itself: were they to go on one after the other, on the thread that has made
            // the connection, the code of one whose reply is there at once could hold up all behind it.
            var opened = new TaskCompletionSource<ClientConnection?>(TaskCreationOptions.RunContinuationsAsynchronously);
            _connecting = opened.Task;
            // A connection serves many callers: it is not a part of the first one's flow.
            using (ExecutionContext.SuppressFlow())
            {
                _ = Task.Run(() => OpenAsync(opened), CancellationToken.None);
            }
            return opened.Task;
        }
    }

    /// <summary>Why there is no connection.</summary>
    public RpcxException Failure()
    {
        if (disposed.IsCancellationRequested)
        {
            return new RpcxException(StatusCode.Unavailable, RpcxReasons.ClientClosed, "The client is disposed.");
        }
        lock (_gate)
        {
            return _failure is { } failure
                ? new RpcxException(failure.StatusCode, failure.Reason, failure.Message, innerException: failure)
                : new RpcxException(StatusCode.Unavailable, RpcxReasons.NotConnected, $"There is no connection to {options.Address}.");
        }
    }

    /// <summary>Closes the connection, after the client is marked as disposed.</summary>
    public async Task CloseAsync()
    {
        Task<ClientConnection?>? connecting;
        lock (_gate)
        {
            connecting = _connecting;
        }
        if (connecting is not null)
        {
            await connecting;
        }
        _connection?.Dispose();
        await _running;
    }

    private async Task OpenAsync(TaskCompletionSource<ClientConnection?> opened)
    {
        try
        {
            opened.SetResult(await ConnectAsync());
        }
        catch (Exception e)
        {
            opened.SetException(e);
        }
    }

    private async Task<ClientConnection?> ConnectAsync()
    {
        try
        {
            var connection = await connector.ConnectAsync(disposed);
            RpcxLog.Connected(logger, options.Address);
            Connected(connection);
            return connection;
        }
        catch (RpcxException e)
        {
            Failed(e);
            return null;
        }
    }

    private void Connected(ClientConnection connection)
    {
        lock (_gate)
        {
            _connection = connection;
            _connecting = null;
            _failure = null;
            _backoff = TimeSpan.Zero;
            _running = Task.WhenAll(_running, connection.RunAsync());
        }
    }

    private void Failed(RpcxException failure)
    {
        lock (_gate)
        {
            _connecting = null;
            _failure = failure;
            _backoff = _backoff == TimeSpan.Zero
                ? options.BackoffFirst
                : TimeSpan.FromTicks(Math.Min(_backoff.Ticks * 2, options.BackoffMax.Ticks));
            _failsUntil = clock.DueAfter(_backoff);
        }
        RpcxLog.ConnectFailed(logger, options.Address, failure.Message, _backoff);
    }
}
