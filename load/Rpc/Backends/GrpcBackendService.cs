using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Rpc.Backends;

/// <summary>Takes commands over gRPC.</summary>
public sealed class GrpcBackendService(CommandExecutor executor) : Backend.BackendBase
{
    /// <inheritdoc/>
    public override Task<Reply> Execute(Command request, ServerCallContext context) => executor.ExecuteAsync(request);
}
