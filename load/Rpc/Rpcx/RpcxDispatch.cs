namespace Billing.Rpc.Rpcx;

/// <summary>Where a server runs the implementation of a service.</summary>
public enum RpcxDispatch
{
    /// <summary>On the connection's read loop, up to the first await that does not complete synchronously. This costs
    /// the least and suits methods that compute for microseconds and wait asynchronously. A method that blocks delays
    /// all later calls on its connection.</summary>
    Inline,

    /// <summary>On the thread pool, for methods that block or compute for a long time.</summary>
    ThreadPool,
}
