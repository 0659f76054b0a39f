using Billing.LocalStack;

namespace Billing.Measuring.Comparing.Paper;

/// <summary>The options for repeating the prototype's experiment.</summary>
internal sealed record PaperOptions
{
    /// <summary>The stack; the comparison sets its backends and jitter.</summary>
    public required StackOptions Stack { get; init; }

    /// <summary>Numbers of requests that each of the three clients sends in a burst.</summary>
    public required IReadOnlyList<int> Requests { get; init; }

    /// <summary>Number of measured rounds; one more runs before them and is dropped.</summary>
    public required int Rounds { get; init; }

    /// <summary>Number of payments that each client sends before each burst; they are not measured.</summary>
    public required int WarmUp { get; init; }
}
