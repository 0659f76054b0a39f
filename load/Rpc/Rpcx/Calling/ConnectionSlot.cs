using Grpc.Core;

namespace Billing.Rpc.Rpcx.Calling;

/// <summary>One of a client's connections. It is opened when a call needs it and reopened after it is lost; after a failed
/// attempt, only when the back-off has passed.</summary>
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

    /// <summary>The connection, if it is open for calls; otherwise null.</summary>
    public ClientConnection? Open => _connection is { IsOpen: true } connection ? connection : null;

    /// <summary>Returns the connection; opens it if necessary.</summary>
    /// <returns>Null if it cannot be opened now; <see cref="Failure"/> returns the reason.</returns>
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
            // The waiting callers continue on separate threads. If they continued one after another on the thread that opened
            // the connection, the code of a caller that receives its reply immediately could delay all others.
            var opened = new TaskCompletionSource<ClientConnection?>(TaskCreationOptions.RunContinuationsAsynchronously);
            _connecting = opened.Task;
            // A connection serves many callers, so it must not inherit the first caller's execution context.
            using (ExecutionContext.SuppressFlow())
            {
                _ = Task.Run(() => OpenAsync(opened), CancellationToken.None);
            }
            return opened.Task;
        }
    }

    /// <summary>Returns the reason why there is no connection.</summary>
    public RpcxException Failure()
    {
        if (disposed.IsCancellationRequested)
        {
            return new RpcxException(StatusCode.Unavailable, RpcxReasons.ClientClosed, "The client has been disposed.");
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
