namespace Billing.Contracts;

/// <summary>Names of the gRPC trailers that accompany an error or an answer.</summary>
public static class Trailers
{
    /// <summary>One of <see cref="ErrorReasons"/>.</summary>
    public const string Reason = "billing-reason";

    /// <summary>The path of the request field at fault.</summary>
    public const string Field = "billing-field";

    /// <summary>When the steps of a call were taken that asked for it with <see cref="RequestHeaders.SentAt"/>; the text is
    /// that of <see cref="StepTimes"/>.</summary>
    public const string Times = "billing-times";

    /// <summary>gRPC's own hint to a retrying client: milliseconds to wait.</summary>
    public const string RetryPushback = "grpc-retry-pushback-ms";
}
