namespace Billing.Rpc.Rpcx.Serving;

/// <summary>A call that a server has received. It is its own cancellation source, so that a call needs one object; the object of
/// a call that ended on the read loop is reused.</summary>
internal sealed class ServerCall : CancellationTokenSource
{
    /// <summary>The id assigned by the client.</summary>
    public ulong Id { get; private set; }

    /// <summary>Its deadline, as a timestamp.</summary>
    public long DueAt { get; private set; }

    /// <summary>The options passed to the implementation.</summary>
    public RpcxCallOptions Options { get; private set; }

    /// <summary>Whether it was added to the calls in flight. A call that ends on the read loop never is.</summary>
    public bool IsEntered { get; set; }

    /// <summary>Initialises the object for a request frame.</summary>
    public void Begin(ulong id, long dueAt, TimeSpan? left)
    {
        Id = id;
        DueAt = dueAt;
        Options = new RpcxCallOptions(left, Token);
    }

    /// <summary>Cancels the call on another thread, because callbacks of the implementation may run synchronously.</summary>
    public void CancelInBackground() => _ = CancelAsync();
}
