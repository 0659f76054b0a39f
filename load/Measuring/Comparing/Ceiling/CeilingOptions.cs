using Billing.LocalStack;

namespace Billing.Measuring.Comparing.Ceiling;

/// <summary>What to compare with the echo.</summary>
internal sealed record CeilingOptions
{
    /// <summary>The stack of the whole path; there are as many echoes as proxies.</summary>
    public required StackOptions Stack { get; init; }

    /// <summary>Requests that each of three clients sends at once.</summary>
    public required int Burst { get; init; }

    /// <summary>Requests under way in the closed loops, in turn.</summary>
    public required IReadOnlyList<int> InFlight { get; init; }

    /// <summary>Rounds that count; one more is run before and dropped.</summary>
    public required int Rounds { get; init; }

    /// <summary>How long each closed loop takes.</summary>
    public required TimeSpan During { get; init; }

    /// <summary>How long each closed loop sends before it is measured.</summary>
    public required TimeSpan WarmUp { get; init; }
}
