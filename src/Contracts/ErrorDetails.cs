namespace Billing.Contracts;

/// <summary>What the details of all errors over gRPC have in common. They are those of google.rpc.Status, in the
/// trailer <c>grpc-status-details-bin</c>: ErrorInfo has the reason, BadRequest the field, RetryInfo the time to wait.
/// </summary>
public static class ErrorDetails
{
    /// <summary>The domain in google.rpc.ErrorInfo: it tells the reasons of the platform, <see cref="ErrorReasons"/>,
    /// from those of other services. Names under <c>.internal</c> are reserved for private use, so nobody owns it.
    /// </summary>
    public const string Domain = "billing.internal";
}
