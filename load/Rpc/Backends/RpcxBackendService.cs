using System.Diagnostics;
using Billing.Hosting.Telemetry;
using Billing.Wire.V1;

namespace Billing.Rpc.Backends;

/// <summary>Takes commands over RPCX.</summary>
internal sealed class RpcxBackendService(CommandExecutor executor) : IBackendService
{
    public Task<Reply> ExecuteAsync(Command command) => command.TraceParent.Length == 0
        ? executor.ExecuteAsync(command)
        : ExecuteTracedAsync(command);

    private async Task<Reply> ExecuteTracedAsync(Command command)
    {
        var span = Tracing.Start(Tracing.ExecuteSpan, ActivityKind.Server, Tracing.Parse(command.TraceParent));
        Activity.Current = span;
        try
        {
            return await executor.ExecuteAsync(command);
        }
        finally
        {
            Tracing.End(span);
        }
    }
}
