namespace Billing.Messaging.Rpcx.Serving;

/// <summary>A call that a server has taken. It is its own source of cancellation: one object a call, and none where the call
/// before has ended on the read loop.</summary>
internal sealed class ServerCall : CancellationTokenSource
{
    /// <summary>The id that the client gave it.</summary>
    public ulong Id { get; private set; }

    /// <summary>The timestamp at which it is given up.</summary>
    public long DueAt { get; private set; }

    /// <summary>What the implementation is told.</summary>
    public RpcxCallOptions Options { get; private set; }

    /// <summary>Whether it is entered among the calls in flight. One that ends on the read loop never is.</summary>
    public bool IsEntered { get; set; }

    /// <summary>Makes it the call of a frame.</summary>
    public void Begin(ulong id, long dueAt, TimeSpan? left)
    {
        Id = id;
        DueAt = dueAt;
        Options = new RpcxCallOptions(left, Token);
    }

    /// <summary>Tells the implementation to give up, on another thread: its code may run at once.</summary>
    public void GiveUp() => _ = CancelAsync();
}
