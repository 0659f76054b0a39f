using System.Globalization;
using Billing.ScenarioFiles;

namespace Billing.Measuring.Scenarios;

/// <summary>A minimum or maximum for a figure of a run.</summary>
/// <param name="Option">The option that set it, e.g. <c>--max-p99-ms</c>.</param>
/// <param name="Limit">The last value that passes.</param>
internal sealed record Threshold(string Option, double Limit)
{
    public const string MaxErrorPercent = "--max-error-percent";
    public const string MaxP50Ms = "--max-p50-ms";
    public const string MaxP99Ms = "--max-p99-ms";
    public const string MinRps = "--min-rps";

    /// <summary>The threshold of a run without thresholds: figures of a run with many failed calls are
    /// misleading.</summary>
    public static Threshold ByDefault { get; } = new(MaxErrorPercent, 1);

    /// <summary>Compares a run's figure with the limit. Latencies and rates are those of answered calls;
    /// if no call was answered, there is no latency, and a threshold for it is missed.</summary>
    public ThresholdFigures Check(CallFigures calls)
    {
        double? value = Option switch
        {
            MaxErrorPercent => Errors(calls),
            MaxP50Ms => calls.Ok == 0 ? null : calls.P50Ms,
            MaxP99Ms => calls.Ok == 0 ? null : calls.P99Ms,
            MinRps => calls.OkPerS,
            _ => throw new InvalidOperationException($"Unknown threshold {Option}."),
        };
        return new ThresholdFigures(
            Option, Limit, value, Option == MinRps ? value < Limit : value is null || value > Limit);
    }

    /// <summary>Returns the percentage of failed calls; 100 if there were no calls.</summary>
    private static double Errors(CallFigures calls) => calls.Count > 0 ? 100.0 * calls.Failed / calls.Count : 100;
}

/// <summary>The comparison of a run with a threshold.</summary>
/// <param name="Option">The option of the threshold.</param>
/// <param name="Limit">The last value that passes.</param>
/// <param name="Value">The value of the run; null if no call was answered.</param>
/// <param name="Missed">Whether the run misses the threshold, and so fails.</param>
internal sealed record ThresholdFigures(string Option, double Limit, double? Value, bool Missed)
{
    private string Measured =>
        Value is { } value ? FormattableString.Invariant($"measured {value:0.##}") : "no call was answered";

    /// <inheritdoc/>
    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture,
        $"{(Missed ? "Missed" : "Met")}: {Option} {Limit}, {Measured}");
}
