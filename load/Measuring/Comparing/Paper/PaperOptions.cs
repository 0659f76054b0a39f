using Billing.LocalStack;

namespace Billing.Measuring.Comparing.Paper;

/// <summary>What to repeat of the prototype's experiment.</summary>
internal sealed record PaperOptions
{
    /// <summary>The stack; backends and jitter are the comparison's.</summary>
    public required StackOptions Stack { get; init; }

    /// <summary>Requests of each of the three clients, in turn.</summary>
    public required IReadOnlyList<int> Requests { get; init; }

    /// <summary>Rounds that count; one more is run before and dropped.</summary>
    public required int Rounds { get; init; }

    /// <summary>Payments that each client sends before each burst, unmeasured.</summary>
    public required int WarmUp { get; init; }
}
