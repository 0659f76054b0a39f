using Billing.LocalStack;

namespace Billing.Measuring.Profiling;

/// <summary>The options of a profile.</summary>
internal sealed record ProfileOptions
{
    /// <summary>The stack that is loaded.</summary>
    public required StackOptions Stack { get; init; }

    /// <summary>The numbers of payments in flight in the closed loop, measured one after the other.</summary>
    public required IReadOnlyList<int> InFlight { get; init; }

    /// <summary>The duration of each measurement.</summary>
    public required TimeSpan During { get; init; }

    /// <summary>The duration of the warm-up before each measurement.</summary>
    public required TimeSpan WarmUp { get; init; }
}
