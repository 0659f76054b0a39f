using Billing.Contracts;
using Billing.Proxy.Failures;
using Grpc.Core;

namespace Billing.Proxy.Telemetry;

/// <summary>Which answers metrics and spans count as errors (<c>error.type</c>), and the names of
/// statuses in them.</summary>
internal static class Errors
{
    private static readonly string[] Names =
        [.. Enum.GetValues<StatusCode>().Order().Select(code => string.Concat(
            code.ToString().Select((c, i) => i > 0 && char.IsUpper(c) ? "_" + c : char.ToUpperInvariant(c).ToString()))
                .Replace("O_K", "OK", StringComparison.Ordinal))];

    /// <summary>Whether an answer is an error: as OpenTelemetry's conventions for gRPC servers have it, what callers
    /// cause is none. The end of a stream that was idle or open for long is none either, though its status is
    /// UNAVAILABLE: its caller opens another.</summary>
    public static bool IsError(StatusCode status, string? reason) => status switch
    {
        StatusCode.Unknown or StatusCode.DeadlineExceeded or StatusCode.Unimplemented or StatusCode.Internal
            or StatusCode.DataLoss => true,
        StatusCode.Unavailable => reason is not (ErrorReasons.StreamIdle or ErrorReasons.StreamTooOld),
        _ => false,
    };

    /// <summary>Whether the answer to a gRPC call is an error. Its reason is decoded only where it matters.</summary>
    public static bool IsError(StatusCode status, HttpContext http) =>
        IsError(status, status == StatusCode.Unavailable ? GrpcFailure.ReasonOf(http) : null);

    /// <summary>Whether gRPC has a status of this number.</summary>
    public static bool IsStatus(int code) => code >= 0 && code < Names.Length;

    /// <summary>The name as in the gRPC specification: RESOURCE_EXHAUSTED, not ResourceExhausted.</summary>
    public static string NameOf(StatusCode status) => Names[(int)status];
}
