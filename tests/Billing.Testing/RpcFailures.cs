using Billing.Contracts;
using Google.Rpc;
using Grpc.Core;

namespace Billing.Testing;

/// <summary>What a failed gRPC call tells programs, in the details of google.rpc.Status;
/// read without the SDK.</summary>
public static class RpcFailures
{
    /// <summary>The reason; null if there is none of the platform's.</summary>
    public static string? Reason(this RpcException failure) =>
        failure.GetRpcStatus()?.GetDetail<ErrorInfo>() is { Domain: ErrorDetails.Domain } info ? info.Reason : null;

    /// <summary>The path of the invalid field; null if no field is.</summary>
    public static string? Field(this RpcException failure) =>
        failure.GetRpcStatus()?.GetDetail<BadRequest>()?.FieldViolations.Single().Field;
}
