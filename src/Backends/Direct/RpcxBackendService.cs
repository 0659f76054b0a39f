using Billing.Messaging.Direct;
using Billing.Messaging.Rpcx;
using Billing.Wire.V1;

namespace Billing.Backends.Direct;

/// <summary>Commands over RPCX.</summary>
internal sealed class RpcxBackendService(CommandExecutor executor) : IBackendService
{
    public Task<Reply> ExecuteAsync(Command command, RpcxCallOptions options) => executor.ExecuteAsync(command);
}
