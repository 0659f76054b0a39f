namespace Billing.Contracts;

/// <summary>Names of the gRPC metadata that a caller may send with a request.</summary>
public static class RequestHeaders
{
    /// <summary>Asks for the times of the call's steps, and says when it was sent: whole microseconds since the Unix epoch,
    /// above zero and before the year 10000. They come back as <see cref="Trailers.Times"/>.</summary>
    public const string SentAt = "billing-sent-at";
}
