using Grpc.Core;

namespace Billing.Rpc.Rpcx;

/// <summary>Options of a client of one server.</summary>
/// <param name="Address">The server's address, <c>host:port</c>.</param>
public sealed record RpcxClientOptions(string Address)
{
    /// <summary>Number of connections to the server; calls are distributed over them in turn.</summary>
    public int Connections { get; init; } = 1;

    /// <summary>Timeout for opening a connection.</summary>
    public TimeSpan ConnectTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>For this long after a failed attempt to connect, calls fail at once.</summary>
    public TimeSpan Backoff { get; init; } = TimeSpan.FromMilliseconds(250);
}

/// <summary>Calls the services of one server. Each connection can have many calls in flight at the same time, and
/// replies arrive in any order. Connections are opened by the first call that needs them. When a connection is lost,
/// its calls fail at once, and the next call reconnects. A call ends with its reply or with an
/// <see cref="RpcxException"/>; a caller limits its own wait. Thread-safe.</summary>
public sealed class RpcxClient : IAsyncDisposable
{
    private const int AttemptsMax = 3;

    private readonly CancellationTokenSource _disposed = new();
    private readonly ConnectionSlot[] _slots;
    private uint _calls;

    /// <summary>Creates a client; it connects with the first call.</summary>
    public RpcxClient(RpcxClientOptions options, TimeProvider time, ILogger<RpcxClient> logger)
    {
        ArgumentNullException.ThrowIfNull(options);
        _slots =
        [
            .. Enumerable.Range(0, options.Connections)
                .Select(_ => new ConnectionSlot(options, time, logger, _disposed.Token)),
        ];
    }

    /// <summary>Creates a proxy: a local object with the methods of the remote service. Create it once and keep it:
    /// reflection is used here, not in the calls.</summary>
    /// <typeparam name="TService">An interface with <see cref="RpcxServiceAttribute"/>.</typeparam>
    /// <exception cref="ArgumentException">The interface is not a valid service;
    /// the message names the problem.</exception>
    public TService Proxy<TService>()
        where TService : class => ServiceProxy.Create<TService>(
            ServiceContract.Read(typeof(TService))
                .ToDictionary(method => method.Method, method => RemoteMethod.Of(this, method)));

    /// <summary>Closes the connections. Calls in flight fail with UNAVAILABLE.</summary>
    public async ValueTask DisposeAsync()
    {
        await _disposed.CancelAsync();
        await Task.WhenAll(_slots.Select(slot => slot.CloseAsync()));
    }

    internal void Start(IPendingCall call)
    {
        var slot = _slots[Interlocked.Increment(ref _calls) % (uint)_slots.Length];
        try
        {
            if (slot.Open is not { } connection || !connection.TrySend(call))
            {
                _ = SendWhenReadyAsync(slot, call);
            }
        }
        catch (Exception e)
        {
            call.Fail(e);
        }
    }

    private static async Task SendWhenReadyAsync(ConnectionSlot slot, IPendingCall call)
    {
        try
        {
            for (var lost = 0; lost < AttemptsMax;)
            {
                var connection = await slot.OpenAsync();
                await connection.WaitForCapacityAsync();
                if (connection.TrySend(call))
                {
                    return;
                }
                lost += connection.IsOpen ? 0 : 1;
            }
            throw new RpcxException(StatusCode.Unavailable, "Every connection was lost before the call was sent.");
        }
        catch (Exception e)
        {
            call.Fail(e);
        }
    }
}
