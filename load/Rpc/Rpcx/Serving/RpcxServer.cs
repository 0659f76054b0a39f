using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using Billing.Hosting;
using Billing.Rpc.Rpcx.Wire;

namespace Billing.Rpc.Rpcx.Serving;

/// <summary>Serves the services that are published on it. They must be published before it is started.</summary>
public sealed class RpcxServer : IHostedService, IAsyncDisposable
{
    private const int AcceptQueue = 512;
    private static readonly TimeSpan AcceptRetry = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan LeaveTimeout = TimeSpan.FromSeconds(1);

    private readonly RpcxServerOptions _options;
    private readonly CallClock _clock;
    private readonly ILogger _logger;
    private readonly Supervisor? _supervisor;
    private readonly Publications _publications = new();
    private readonly ConcurrentDictionary<ServerConnection, Task> _connections = new();
    private readonly CancellationTokenSource _stopping = new();
    private Socket? _listener;
    private Task _accepting = Task.CompletedTask;

    /// <summary>Creates a server that listens when it is started.</summary>
    public RpcxServer(RpcxServerOptions options, TimeProvider time, ILogger<RpcxServer> logger, Supervisor? supervisor = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        _options = options;
        _clock = new CallClock(time);
        _logger = logger;
        _supervisor = supervisor;
    }

    /// <summary>The address on which it listens.</summary>
    /// <exception cref="InvalidOperationException">The server is not started.</exception>
    public IPEndPoint EndPoint
    {
        get => field ?? throw new InvalidOperationException("The server is not started.");
        private set;
    }

    /// <summary>Publishes an implementation under the interface's public names.</summary>
    /// <typeparam name="TService">An interface with <see cref="RpcxServiceAttribute"/>.</typeparam>
    /// <param name="implementation">The implementation; it is called from many threads at the same time. To reject a call it
    /// throws an <see cref="RpcxException"/>.</param>
    /// <param name="dispatch">Where the implementation runs.</param>
    /// <exception cref="ArgumentException">The interface is not a valid service, or its name is already published; the message
    /// names the problem.</exception>
    /// <exception cref="InvalidOperationException">The server is started.</exception>
    public void Publish<TService>(TService implementation, RpcxDispatch dispatch = RpcxDispatch.Inline)
        where TService : class
    {
        ArgumentNullException.ThrowIfNull(implementation);
        if (_listener is not null)
        {
            throw new InvalidOperationException("Services must be published before the server is started.");
        }
        _publications.Add(typeof(TService), implementation, dispatch);
    }

    /// <summary>Starts listening.</summary>
    /// <exception cref="StartupException">The server cannot listen on the address.</exception>
    public Task StartAsync(CancellationToken cancellationToken)
    {
        var listener = new Socket(_options.Listen.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            listener.Bind(_options.Listen);
            listener.Listen(AcceptQueue);
        }
        catch (SocketException e)
        {
            listener.Dispose();
            throw new StartupException($"Billing:Direct:Listen: cannot listen on {_options.Listen}: {e.Message}", e);
        }
        _listener = listener;
        EndPoint = (IPEndPoint)listener.LocalEndPoint!;
        RpcxLog.Listening(_logger, EndPoint.ToString());
        using (ExecutionContext.SuppressFlow())
        {
            _accepting = Task.Run(
                () => _supervisor?.RunAsync(nameof(RpcxServer), _ => AcceptAsync(listener), _stopping.Token) ?? AcceptAsync(listener),
                CancellationToken.None);
        }
        return Task.CompletedTask;
    }

    /// <summary>Stops accepting connections and calls, waits for the calls in flight for at most
    /// <see cref="RpcxServerOptions.StopTimeout"/>, and closes all connections.</summary>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await StopAcceptingAsync();
        using var timeout = new CancellationTokenSource(_options.StopTimeout, _clock.Time);
        using var linked = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        await Task.WhenAll(_connections.Select(open => StopAsync(open.Key, open.Value, linked.Token)));
    }

    /// <summary>Closes the connections that <see cref="StopAsync(CancellationToken)"/> has not closed.</summary>
    public async ValueTask DisposeAsync()
    {
        await StopAcceptingAsync();
        foreach (var connection in _connections.Keys)
        {
            connection.Dispose();
        }
        await Task.WhenAll(_connections.Values);
    }

    private async Task StopAcceptingAsync()
    {
        await _stopping.CancelAsync();
        _listener?.Dispose();
        await _accepting;
    }

    private async Task StopAsync(ServerConnection connection, Task running, CancellationToken cancellationToken)
    {
        try
        {
            await connection.StopAsync().WaitAsync(cancellationToken);
            await running.WaitAsync(LeaveTimeout, _clock.Time, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            connection.Leave();
            await running.WaitAsync(LeaveTimeout, _clock.Time, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
        catch (OperationCanceledException)
        {
            RpcxLog.Abandoned(_logger, connection.CallsInFlight, _options.StopTimeout);
        }
        connection.Dispose();
        await running;
    }

    private async Task AcceptAsync(Socket listener)
    {
        while (!_stopping.IsCancellationRequested)
        {
            try
            {
                Serve(await listener.AcceptAsync(_stopping.Token));
            }
            catch (Exception e) when (_stopping.IsCancellationRequested
                && e is OperationCanceledException or ObjectDisposedException or SocketException)
            {
                return;
            }
            catch (SocketException e)
            {
                // For example, no file descriptor is free: retry, because closing connections release some.
                RpcxLog.AcceptFailed(_logger, e.Message);
                await Task.Delay(AcceptRetry, _clock.Time, _stopping.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
        }
    }

    private void Serve(Socket socket)
    {
        if (_connections.Count >= _options.ConnectionsMax)
        {
            RpcxLog.Refused(
                _logger, socket.RemoteEndPoint?.ToString() ?? "", $"it is one more than {_options.ConnectionsMax} connections (ConnectionsMax)");
            socket.Dispose();
            return;
        }
        SocketSettings.Apply(socket);
        var connection = new ServerConnection(socket, _options, _publications, _clock, _logger);
        var served = new TaskCompletionSource();
        _connections[connection] = served.Task;
        _ = Task.Run(async () =>
        {
            await connection.RunAsync();
            _connections.TryRemove(connection, out _);
            served.SetResult();
        });
    }
}
