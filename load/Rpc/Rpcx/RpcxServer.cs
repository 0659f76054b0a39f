using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using Billing.Hosting;

namespace Billing.Rpc.Rpcx;

/// <summary>Serves the services that are published on it before it is started. There is no encryption and no
/// authentication: listen only where no other than the platform's processes can connect.</summary>
/// <param name="listen">The address to listen on; port 0 means any free port.</param>
/// <param name="time">The clock.</param>
/// <param name="logger">The log.</param>
/// <param name="supervisor">Watches the loop that accepts connections; null for none.</param>
public sealed partial class RpcxServer(
    IPEndPoint listen, TimeProvider time, ILogger<RpcxServer> logger, Supervisor? supervisor = null)
    : IHostedService, IAsyncDisposable
{
    private const int AcceptQueue = 512;
    private static readonly TimeSpan AcceptRetry = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan StopTimeout = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan LeaveTimeout = TimeSpan.FromSeconds(1);

    private readonly Dictionary<uint, ServerMethod> _methods = [];
    private readonly ConcurrentDictionary<ServerConnection, Task> _connections = new();
    private readonly CancellationTokenSource _stopping = new();
    private Socket? _listener;
    private Task _accepting = Task.CompletedTask;

    /// <summary>Maximum number of calls in flight of a connection: nothing more is read from it
    /// until one has ended.</summary>
    public int InFlightMax { get; init; } = 10_000;

    /// <summary>The address on which it listens.</summary>
    public IPEndPoint EndPoint => (IPEndPoint)_listener!.LocalEndPoint!;

    /// <summary>Publishes an implementation under the interface's public names.</summary>
    /// <typeparam name="TService">An interface with <see cref="RpcxServiceAttribute"/>.</typeparam>
    /// <param name="implementation">The implementation; it is called from many threads at the same time.</param>
    /// <param name="dispatch">Where the implementation runs.</param>
    /// <exception cref="ArgumentException">The interface is not a valid service, or two methods have the same public
    /// name, or names of the same number.</exception>
    public void Publish<TService>(TService implementation, RpcxDispatch dispatch = RpcxDispatch.Inline)
        where TService : class
    {
        ArgumentNullException.ThrowIfNull(implementation);
        foreach (var method in ServiceContract.Read(typeof(TService)))
        {
            _methods.Add(method.Number, ServerMethod.Of(method, implementation, dispatch));
        }
    }

    /// <summary>Starts listening.</summary>
    /// <exception cref="StartupException">The server cannot listen on the address.</exception>
    public Task StartAsync(CancellationToken cancellationToken)
    {
        _listener = new Socket(listen.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            _listener.Bind(listen);
            _listener.Listen(AcceptQueue);
        }
        catch (SocketException e)
        {
            _listener.Dispose();
            throw new StartupException($"Billing:Direct:Listen: cannot listen on {listen}: {e.Message}", e);
        }
        using (ExecutionContext.SuppressFlow())
        {
            _accepting = Task.Run(
                () => supervisor?.RunAsync(nameof(RpcxServer), _ => AcceptAsync(_listener), _stopping.Token)
                    ?? AcceptAsync(_listener),
                CancellationToken.None);
        }
        return Task.CompletedTask;
    }

    /// <summary>Stops accepting connections and calls, waits for the calls in flight, for at most 20 seconds,
    /// and closes all connections.</summary>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await StopAcceptingAsync();
        using var timeout = new CancellationTokenSource(StopTimeout, time);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        await Task.WhenAll(_connections.Select(async open =>
        {
            await open.Key.StopAsync(stop.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            // The client closes the connection when it has read the last answer.
            await open.Value.WaitAsync(LeaveTimeout, time, stop.Token)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }));
        await DisposeAsync();
    }

    /// <summary>Closes all connections at once.</summary>
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
                // For example, no file descriptor is free: closing connections release some.
                AcceptFailed(e.Message);
                await Task.Delay(AcceptRetry, time, _stopping.Token)
                    .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
        }
    }

    private void Serve(Socket socket)
    {
        FrameOutput.Prepare(socket);
        var connection = new ServerConnection(socket, _methods, InFlightMax, logger, _stopping.Token);
        var served = new TaskCompletionSource();
        _connections[connection] = served.Task;
        _ = Task.Run(async () =>
        {
            try
            {
                await connection.RunAsync();
            }
            catch (Exception e)
            {
                ConnectionFailed(e);
                connection.Dispose();
            }
            _connections.TryRemove(connection, out _);
            served.SetResult();
        });
    }

    [LoggerMessage(306, LogLevel.Error, "Cannot accept connections at the moment: {Reason}")]
    private partial void AcceptFailed(string reason);

    [LoggerMessage(307, LogLevel.Error, "A connection ended because of an internal error")]
    private partial void ConnectionFailed(Exception exception);
}
