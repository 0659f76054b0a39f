using System.Globalization;

namespace Billing.Hosting;

/// <summary>A time, or a number of something, by its name.</summary>
/// <param name="Name">Its name: the key of a setting, or what a constant is.</param>
/// <param name="Value">The time in ticks, or the number.</param>
/// <param name="IsTime">Whether it is a time.</param>
public readonly record struct Quantity(string Name, decimal Value, bool IsTime)
{
    /// <summary>A time.</summary>
    public static Quantity Of(string name, TimeSpan time) => new(name, time.Ticks, IsTime: true);

    /// <summary>A number.</summary>
    public static Quantity Of(string name, long number) => new(name, number, IsTime: false);

    /// <summary>The value of a setting as messages state it: <c>500 ms</c>, <c>6 s</c>, <c>2 min</c>; a number as it
    /// is.</summary>
    public static string Text(object? value) => value is TimeSpan time
        ? Text(time)
        : string.Create(CultureInfo.InvariantCulture, $"{value}");

    /// <summary>The name and the value.</summary>
    public override string ToString() => $"{Name} ({Text(IsTime ? new TimeSpan((long)Value) : Value)})";

    private static string Text(TimeSpan time)
    {
        var (number, unit) = time.Duration() switch
        {
            { Ticks: 0 } => (0, "s"),
            { Ticks: < TimeSpan.TicksPerSecond } => (time.TotalMilliseconds, "ms"),
            var t when t.Ticks % TimeSpan.TicksPerDay == 0 => (time.TotalDays, "d"),
            var t when t.Ticks % TimeSpan.TicksPerHour == 0 => (time.TotalHours, "h"),
            var t when t.Ticks % TimeSpan.TicksPerMinute == 0 => (time.TotalMinutes, "min"),
            _ => (time.TotalSeconds, "s"),
        };
        return string.Create(CultureInfo.InvariantCulture, $"{number:0.#######} {unit}");
    }
}

/// <summary>One quantity limits another: two settings, a setting and a constant, or two constants. Settings are checked
/// when a service starts, constants by the unit tests; docs/times.md lists all rules.</summary>
/// <param name="Left">The smaller one.</param>
/// <param name="IsStrict">Whether it must be less than the other one; otherwise it may be equal.</param>
/// <param name="Right">The larger one.</param>
/// <param name="Reason">Why, as a clause that begins with a small letter and has no full stop.</param>
public sealed record Rule(Quantity Left, bool IsStrict, Quantity Right, string Reason)
{
    /// <summary>The left one may be as large as the right one.</summary>
    public static Rule AtMost(Quantity left, Quantity right, string reason) =>
        new(left, IsStrict: false, right, reason);

    /// <summary>The left one is smaller than the right one.</summary>
    public static Rule Less(Quantity left, Quantity right, string reason) => new(left, IsStrict: true, right, reason);

    /// <summary>Whether the values keep to the rule.</summary>
    public bool Holds => IsStrict ? Left.Value < Right.Value : Left.Value <= Right.Value;

    /// <summary>The rule as a sentence, with both values.</summary>
    public override string ToString() => $"{Left} must be {(IsStrict ? "less than" : "at most")} {Right}: {Reason}.";
}

/// <summary>Settings that limit one another.</summary>
public interface IRelatedSettings
{
    /// <summary>The rules, with the present values.</summary>
    IEnumerable<Rule> Rules();
}
