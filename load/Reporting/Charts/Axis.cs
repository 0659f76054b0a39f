namespace Billing.Reporting.Charts;

/// <summary>The axis of a chart.</summary>
/// <param name="Label">The measured quantity, e.g. <c>Latency</c>.</param>
/// <param name="Unit">The unit of its values, e.g. <c>ms</c>; empty for none.</param>
/// <param name="IsLogarithmic">Whether the axis is logarithmic; values that are not above zero
/// are then left out.</param>
public sealed record Axis(string Label, string Unit = "", bool IsLogarithmic = false)
{
    internal string Title => Unit.Length == 0 ? Label : $"{Label} ({Unit})";

    internal string Value(double value) =>
        Unit.Length == 0 ? Numbers.Significant(value) : $"{Numbers.Significant(value)} {Unit}";
}
