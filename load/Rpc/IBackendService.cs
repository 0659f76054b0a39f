using Billing.Rpc.Rpcx;
using Billing.Wire.V1;

namespace Billing.Rpc;

/// <summary>A backend over RPCX: the same call as the service Backend of backend.proto.</summary>
[RpcxService("billing.wire.v1.Backend")]
public interface IBackendService
{
    /// <summary>Processes one command.</summary>
    /// <returns>The reply, which may be an error decided by the backend.</returns>
    [RpcxMethod("Execute")]
    Task<Reply> ExecuteAsync(Command command);
}
