namespace Billing.Reporting.Charts;

/// <summary>What an axis of a chart states.</summary>
/// <param name="Label">What is measured, e.g. <c>Latency</c>.</param>
/// <param name="Unit">Of its values, e.g. <c>ms</c>; empty for none.</param>
/// <param name="IsLogarithmic">Whether equal distances are equal ratios; values that are not above zero are left out then.
/// </param>
public sealed record Axis(string Label, string Unit = "", bool IsLogarithmic = false)
{
    internal string Title => Unit.Length == 0 ? Label : $"{Label} ({Unit})";

    internal string Value(double value) => Unit.Length == 0 ? Numbers.Significant(value) : $"{Numbers.Significant(value)} {Unit}";
}
