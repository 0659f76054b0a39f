namespace Billing.Rpc.Rpcx.Wire;

/// <summary>The other end violated the protocol; its connection is closed.</summary>
internal sealed class ProtocolException(string message, string reason = RpcxReasons.ProtocolViolated) : Exception(message)
{
    public string Reason { get; } = reason;
}
