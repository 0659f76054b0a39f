using Billing.Contracts;
using Google.Rpc;
using Grpc.Core;

namespace Billing.Client;

/// <summary>Reads what a failure tells programs: from the details of google.rpc.Status, otherwise from the trailers with which a
/// platform of the version before says the same.</summary>
internal static class ErrorDetails
{
    /// <summary>Returns one of <see cref="ErrorReasons"/>; empty if the failure has none.</summary>
    public static string Reason(RpcException failure) =>
        Of(failure)?.GetDetail<ErrorInfo>()?.Reason ?? failure.Trailers.GetValue(Trailers.Reason) ?? "";

    /// <summary>Returns the path of the invalid field; empty if no field is.</summary>
    public static string Field(RpcException failure) =>
        Of(failure)?.GetDetail<BadRequest>()?.FieldViolations.FirstOrDefault()?.Field ?? failure.Trailers.GetValue(Trailers.Field) ?? "";

    /// <summary>Returns how long to wait before a retry; null if nothing says so.</summary>
    public static TimeSpan? RetryAfter(RpcException failure) =>
        Of(failure)?.GetDetail<RetryInfo>()?.RetryDelay?.ToTimeSpan() is { } delay && delay >= TimeSpan.Zero ? delay
        : int.TryParse(failure.Trailers.GetValue(Trailers.RetryPushback), out var milliseconds) && milliseconds >= 0
            ? TimeSpan.FromMilliseconds(milliseconds)
            : null;

    // Details of another form come from something between the client and the platform.
    private static Google.Rpc.Status? Of(RpcException failure) => failure.Trailers.GetRpcStatus(ignoreParseError: true);
}
