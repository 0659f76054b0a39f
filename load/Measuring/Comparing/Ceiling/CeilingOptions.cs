using Billing.LocalStack;

namespace Billing.Measuring.Comparing.Ceiling;

/// <summary>The options of the comparison with the echo.</summary>
internal sealed record CeilingOptions
{
    /// <summary>The stack of the whole path; there are as many echo servers as proxies.</summary>
    public required StackOptions Stack { get; init; }

    /// <summary>Number of requests that each of three clients sends at once.</summary>
    public required int Burst { get; init; }

    /// <summary>Numbers of requests in flight in the closed loops.</summary>
    public required IReadOnlyList<int> InFlight { get; init; }

    /// <summary>Number of measured rounds; one more runs before them and is dropped.</summary>
    public required int Rounds { get; init; }

    /// <summary>Duration of each closed loop.</summary>
    public required TimeSpan During { get; init; }

    /// <summary>Duration of the warm-up before each closed loop.</summary>
    public required TimeSpan WarmUp { get; init; }
}
