namespace Billing.Measuring.Comparing.Overload;

/// <summary>The options of the overload measurement.</summary>
internal sealed record OverloadOptions
{
    /// <summary>The offered load as a multiple of the platform's capacity.</summary>
    public required int Times { get; init; }

    /// <summary>Duration of the overload.</summary>
    public required TimeSpan During { get; init; }
}
