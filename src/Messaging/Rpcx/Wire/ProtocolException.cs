namespace Billing.Messaging.Rpcx.Wire;

/// <summary>The other end sent what the protocol does not allow; its connection ends.</summary>
internal sealed class ProtocolException(string message, string reason = RpcxReasons.ProtocolViolated) : Exception(message)
{
    public string Reason { get; } = reason;
}
