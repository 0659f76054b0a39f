using System.Text.Json.Serialization;

namespace Billing.Proxy.Failures;

/// <summary>An error, as problem details of RFC 9457.</summary>
public sealed class ProblemAnswer
{
    /// <summary>The short name of the status.</summary>
    public required string Title { get; init; }

    /// <summary>The HTTP status.</summary>
    public required int Status { get; init; }

    /// <summary>What happened, for a person.</summary>
    public string? Detail { get; init; }

    /// <summary>The constant for programs, e.g. INVALID_FIELD: the same as gRPC's trailer billing-reason.</summary>
    public string? Reason { get; init; }

    /// <summary>The field at fault, if one is, e.g. amount.units.</summary>
    public string? Field { get; init; }

    /// <summary>How long to wait before a retry, in milliseconds; Retry-After has whole seconds only.</summary>
    public long? RetryAfterMs { get; init; }
}

[JsonSourceGenerationOptions(
    GenerationMode = JsonSourceGenerationMode.Metadata,
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(ProblemAnswer))]
internal sealed partial class ProblemJson : JsonSerializerContext;
