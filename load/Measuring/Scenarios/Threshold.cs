using System.Globalization;
using Billing.Scenarios;

namespace Billing.Measuring.Scenarios;

/// <summary>A figure that a run must reach or must not exceed.</summary>
/// <param name="Option">The option that set it, e.g. <c>--max-p99-ms</c>.</param>
/// <param name="Limit">The last value that passes.</param>
internal sealed record Threshold(string Option, double Limit)
{
    public const string MaxErrorPercent = "--max-error-percent";
    public const string MaxP50Ms = "--max-p50-ms";
    public const string MaxP99Ms = "--max-p99-ms";
    public const string MinRps = "--min-rps";

    /// <summary>What a run must hold to that was given no threshold: a run whose calls fail has measured something else than it says.</summary>
    public static Threshold ByDefault { get; } = new(MaxErrorPercent, 1);

    /// <summary>Compares a run's figure with the limit. Latencies and rates are those of answered calls; where no call was
    /// answered, there is no latency, and its threshold is missed.</summary>
    public ThresholdFigures Check(CallFigures calls)
    {
        double? value = Option switch
        {
            MaxErrorPercent => Errors(calls),
            MaxP50Ms => calls.Ok == 0 ? null : calls.P50Ms,
            MaxP99Ms => calls.Ok == 0 ? null : calls.P99Ms,
            MinRps => calls.OkPerS,
            _ => throw new InvalidOperationException($"There is no threshold {Option}."),
        };
        return new ThresholdFigures(Option, Limit, value, Option == MinRps ? value < Limit : value is null || value > Limit);
    }

    /// <summary>The share of failed calls; 100 where there were none at all.</summary>
    private static double Errors(CallFigures calls) => calls.Count > 0 ? 100.0 * calls.Failed / calls.Count : 100;
}

/// <summary>How a threshold and a run compare.</summary>
/// <param name="Option">The threshold.</param>
/// <param name="Limit">The last value that passes.</param>
/// <param name="Value">The run's; null where no call was answered.</param>
/// <param name="Missed">Whether the run fails for it.</param>
internal sealed record ThresholdFigures(string Option, double Limit, double? Value, bool Missed)
{
    /// <inheritdoc/>
    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture,
        $"{(Missed ? "Missed" : "Held")}: {Option} {Limit}, {(Value is { } value ? FormattableString.Invariant($"it is {value:0.##}") : "no call was answered")}");
}
