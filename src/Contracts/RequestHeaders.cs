namespace Billing.Contracts;

/// <summary>Names of the gRPC metadata that a caller may send with a request.</summary>
public static class RequestHeaders
{
    /// <summary>Asks for the times of the call's steps, and states when the call was sent: whole microseconds since the Unix
    /// epoch, above zero and before the year 10000. The answer has the times in <see cref="Trailers.Times"/>.</summary>
    public const string SentAt = "billing-sent-at";
}
