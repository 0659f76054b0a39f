namespace Billing.Contracts;

/// <summary>Names of the gRPC trailers that accompany an error or an answer, beside the details of an error
/// (<see cref="ErrorDetails"/>).</summary>
public static class Trailers
{
    /// <summary>The times of the steps of a call that asked for them with <see cref="RequestHeaders.SentAt"/>,
    /// in the text form of <see cref="StepTimes"/>.</summary>
    public const string Times = "billing-times";

    /// <summary>gRPC's own hint to a retrying client: how many milliseconds to wait.</summary>
    public const string RetryPushback = "grpc-retry-pushback-ms";
}

/// <summary>Names of the gRPC metadata that a caller may send with a request.</summary>
public static class RequestHeaders
{
    /// <summary>Asks for the times of the call's steps, and states when the call was sent: whole microseconds since the
    /// Unix epoch, above zero and before the year 10000. The answer has the times in
    /// <see cref="Trailers.Times"/>.</summary>
    public const string SentAt = "billing-sent-at";
}
