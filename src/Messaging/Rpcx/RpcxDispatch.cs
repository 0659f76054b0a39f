namespace Billing.Messaging.Rpcx;

/// <summary>Where a server runs the implementation of a service.</summary>
public enum RpcxDispatch
{
    /// <summary>On the loop that reads the connection, up to the first await that waits. The cheapest, for methods that
    /// compute for microseconds and wait asynchronously. One that blocks holds up the calls behind it on its connection.
    /// </summary>
    Inline,

    /// <summary>On the thread pool, from the beginning: for methods that block or compute for long.</summary>
    ThreadPool,
}
