using Grpc.Core;

namespace Billing.Rpc.Rpcx.Calling;

/// <summary>One of a client's connections. It is opened when a call needs it and reopened after it is lost; after a failed
/// attempt, only when the back-off has passed.</summary>
internal sealed class ConnectionSlot(
    Connector connector, RpcxClientOptions options, CallClock clock, ILogger logger, CancellationToken disposed)
{
    private readonly Lock _gate = new();
    private volatile ClientConnection? _connection;
    private TaskCompletionSource<ClientConnection?>? _opening;
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
            if (_opening is not null)
            {
                return _opening.Task;
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
            var opening = _opening = new(TaskCreationOptions.RunContinuationsAsynchronously);
            // A connection serves many callers, so it must not inherit the first caller's execution context.
            using (ExecutionContext.SuppressFlow())
            {
                _ = Task.Run(() => ConnectAsync(opening), CancellationToken.None);
            }
            return opening.Task;
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
        Task opening;
        lock (_gate)
        {
            opening = _opening?.Task ?? Task.CompletedTask;
        }
        await opening;
        _connection?.Dispose();
        await _running;
    }

    private async Task ConnectAsync(TaskCompletionSource<ClientConnection?> opening)
    {
        try
        {
            var connection = await connector.ConnectAsync(disposed);
            RpcxLog.Connected(logger, options.Address);
            Connected(connection);
            opening.SetResult(connection);
        }
        catch (RpcxException e)
        {
            Failed(e);
            opening.SetResult(null);
        }
        catch (Exception e)
        {
            opening.SetException(e);
        }
    }

    private void Connected(ClientConnection connection)
    {
        lock (_gate)
        {
            _connection = connection;
            _opening = null;
            _failure = null;
            _backoff = TimeSpan.Zero;
            _running = Task.WhenAll(_running, connection.RunAsync());
        }
    }

    private void Failed(RpcxException failure)
    {
        lock (_gate)
        {
            _opening = null;
            _failure = failure;
            _backoff = _backoff == TimeSpan.Zero
                ? options.BackoffFirst
                : TimeSpan.FromTicks(Math.Min(_backoff.Ticks * 2, options.BackoffMax.Ticks));
            _failsUntil = clock.DueAfter(_backoff);
        }
        RpcxLog.ConnectFailed(logger, options.Address, failure.Message, _backoff);
    }
}
