namespace Billing.Measuring.Comparing.Overload;

/// <summary>What to measure of an overload.</summary>
internal sealed record OverloadOptions
{
    /// <summary>How many times its capacity the platform is offered.</summary>
    public required int Times { get; init; }

    /// <summary>How long.</summary>
    public required TimeSpan During { get; init; }
}
