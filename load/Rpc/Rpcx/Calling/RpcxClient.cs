using System.Reflection;
using Grpc.Core;

namespace Billing.Rpc.Rpcx.Calling;

/// <summary>Calls the services of one server. Each connection can have many calls in flight at the same time, and replies
/// arrive in any order. Connections are opened by the first call that needs them. When a connection is lost, its calls fail
/// immediately with UNAVAILABLE, and the next call reconnects. Thread-safe; a program needs one client per server.</summary>
/// <remarks>A call through a proxy ends with its reply, with an <see cref="RpcxException"/>, or with an
/// <see cref="OperationCanceledException"/> if its caller's token was cancelled.</remarks>
public sealed class RpcxClient : IAsyncDisposable
{
    private const int AttemptsMax = 3;

    // Timers are limited to some weeks.
    private static readonly TimeSpan TimerMax = TimeSpan.FromDays(7);

    private readonly RpcxClientOptions _options;
    private readonly CallClock _clock;
    private readonly MethodNumbers _methods = new();
    private readonly CancellationTokenSource _disposed = new();
    private readonly ConnectionSlot[] _slots;
    private uint _callCount;

    /// <summary>Creates a client; it connects with the first call.</summary>
    public RpcxClient(RpcxClientOptions options, TimeProvider time, ILogger<RpcxClient> logger)
    {
        ArgumentNullException.ThrowIfNull(options);
        _options = options;
        _clock = new CallClock(time);
        var connector = new Connector(options, _methods, _clock, logger);
        _slots = [.. Enumerable.Range(0, options.Connections)
            .Select(_ => new ConnectionSlot(connector, options, _clock, logger, _disposed.Token))];
    }

    /// <summary>Creates a proxy: a local object with the methods of the remote service. Create it once and keep it: reflection
    /// is used here, not in the calls.</summary>
    /// <typeparam name="TService">An interface with <see cref="RpcxServiceAttribute"/>.</typeparam>
    /// <exception cref="ArgumentException">The interface is not a valid service; the message names the problem.</exception>
    public TService Proxy<TService>()
        where TService : class
    {
        var contract = ServiceContract.Read(typeof(TService));
        return ServiceProxy.Create<TService>(contract.Methods.ToDictionary(m => m.Method, m => Prepare(contract.Name, m)));
    }

    /// <summary>Closes the connections. Calls in flight fail with UNAVAILABLE.</summary>
    public async ValueTask DisposeAsync()
    {
        await _disposed.CancelAsync();
        await Task.WhenAll(_slots.Select(slot => slot.CloseAsync()));
    }

    internal void Start(IPendingCall call, RpcxCallOptions options)
    {
        var timeout = options.Timeout ?? _options.TimeoutDefault;
        if (options.CancellationToken.IsCancellationRequested)
        {
            call.TrySetCanceled(options.CancellationToken);
            return;
        }
        if (timeout <= TimeSpan.Zero && timeout != Timeout.InfiniteTimeSpan)
        {
            call.Fail(OutOfTime());
            return;
        }
        call.Begin(_clock.DueAfter(timeout), options.CancellationToken);
        var slot = Choose();
        try
        {
            if (slot.Open is not { } connection || !connection.TryReserveSlot() || !connection.TrySend(call))
            {
                _ = SendWhenReadyAsync(slot, call);
            }
        }
        catch (Exception e)
        {
            call.Fail(e);
        }
    }

    internal static RpcxException OutOfTime() => new(
        StatusCode.DeadlineExceeded, RpcxReasons.NoAnswerInTime,
        "No reply arrived before the deadline; the call may or may not have been executed.");

    private async Task SendWhenReadyAsync(ConnectionSlot slot, IPendingCall call)
    {
        using var timeout = new CancellationTokenSource(
            _clock.Left(call.DueAt) is { } left && left < TimerMax ? left : Timeout.InfiniteTimeSpan, _clock.Time);
        using var linked = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, call.CancellationToken);
        try
        {
            await SendAsync(slot, call, linked.Token);
        }
        catch (OperationCanceledException) when (timeout.IsCancellationRequested)
        {
            call.Fail(OutOfTime());
        }
        catch (OperationCanceledException)
        {
            call.TrySetCanceled(call.CancellationToken);
        }
        catch (Exception e)
        {
            call.Fail(e);
        }
    }

    private static async Task SendAsync(ConnectionSlot slot, IPendingCall call, CancellationToken cancellationToken)
    {
        for (var attempt = 1; attempt <= AttemptsMax; attempt++)
        {
            var connection = await slot.OpenAsync().WaitAsync(cancellationToken) ?? throw slot.Failure();
            await connection.ReserveSlotAsync(cancellationToken);
            if (connection.TrySend(call))
            {
                return;
            }
        }
        throw slot.Failure();
    }

    /// <summary>Returns the next connection, round-robin. If it is not open, starts opening it and returns an open one, if any.
    /// </summary>
    private ConnectionSlot Choose()
    {
        if (_slots.Length == 1)
        {
            return _slots[0];
        }
        var first = _slots[Interlocked.Increment(ref _callCount) % (uint)_slots.Length];
        if (first.Open is not null)
        {
            return first;
        }
        _ = first.OpenAsync();
        return Array.Find(_slots, slot => slot.Open is not null) ?? first;
    }

    private RemoteMethod Prepare(string service, MethodContract contract) => (RemoteMethod)Activator.CreateInstance(
        typeof(RemoteMethod<>).MakeGenericType(contract.Reply),
        BindingFlags.Instance | BindingFlags.Public, null,
        [this, _methods.Number(service, contract.Name), $"{service}/{contract.Name}"], null)!;
}
