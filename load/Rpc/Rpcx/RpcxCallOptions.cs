namespace Billing.Rpc.Rpcx;

/// <summary>The timeout and the cancellation token of one call. The caller sets them; the implementation on the server
/// receives the corresponding values.</summary>
/// <param name="Timeout">For a caller: how long the call may take, above zero;
/// <see cref="System.Threading.Timeout.InfiniteTimeSpan"/> for no limit; null for
/// <see cref="RpcxClientOptions.TimeoutDefault"/>. For an implementation: the time that was left when the request arrived,
/// null for no limit.</param>
/// <param name="CancellationToken">For a caller: cancelling it ends the call and notifies the server. For an implementation:
/// cancelled if the caller cancels the call, the deadline passes or the connection is lost. An implementation may use it only
/// until the task that it returned has ended.</param>
public readonly record struct RpcxCallOptions(TimeSpan? Timeout = null, CancellationToken CancellationToken = default);
