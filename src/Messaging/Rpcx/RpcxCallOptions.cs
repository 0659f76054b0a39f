namespace Billing.Messaging.Rpcx;

/// <summary>What goes with one call beside its request. A caller says how long it waits and when it has gone; the
/// implementation on the other side is told the same.</summary>
/// <param name="Timeout">To a caller: how long the call may take, above zero;
/// <see cref="System.Threading.Timeout.InfiniteTimeSpan"/> for no bound; null for
/// <see cref="RpcxClientOptions.TimeoutDefault"/>. To an implementation: the time that was left when the request came, null
/// for no bound.</param>
/// <param name="CancellationToken">To a caller: cancelling it ends the call and tells the server. To an implementation:
/// the caller has gone, its time is up, or its connection is lost. An implementation may use it until the task that it
/// returned has ended, and no longer.</param>
public readonly record struct RpcxCallOptions(TimeSpan? Timeout = null, CancellationToken CancellationToken = default)
{
    /// <summary>A call with the default time-out.</summary>
    public static implicit operator RpcxCallOptions(CancellationToken cancellationToken) => new(null, cancellationToken);

    /// <summary>A call with the default time-out.</summary>
    public static RpcxCallOptions FromCancellationToken(CancellationToken cancellationToken) => new(null, cancellationToken);
}
