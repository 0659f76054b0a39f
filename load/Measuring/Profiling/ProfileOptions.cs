using Billing.LocalStack;

namespace Billing.Measuring.Profiling;

/// <summary>What to profile.</summary>
internal sealed record ProfileOptions
{
    /// <summary>The stack that is loaded.</summary>
    public required StackOptions Stack { get; init; }

    /// <summary>Payments under way in the closed loop, in turn.</summary>
    public required IReadOnlyList<int> InFlight { get; init; }

    /// <summary>How long each is measured.</summary>
    public required TimeSpan During { get; init; }

    /// <summary>Load before each that does not count.</summary>
    public required TimeSpan WarmUp { get; init; }
}
