namespace Billing.Reporting.Charts;

/// <summary>A labelled value of an axis.</summary>
internal readonly record struct Tick(double Value, string Label);

/// <summary>Round values for an axis.</summary>
internal static class Ticks
{
    private static readonly double[] Mantissas = [1, 2, 2.5, 5, 10];

    /// <summary>Whether an axis can show a value.</summary>
    public static bool Shows(Axis axis, double value) => double.IsFinite(value) && (!axis.IsLogarithmic || value > 0);

    /// <summary>Returns round values of an axis that cover the given values.</summary>
    /// <param name="values">The values, at least one, which the axis can show.</param>
    /// <param name="fromZero">Whether a linear axis begins at zero.</param>
    /// <param name="wanted">The maximum number of steps.</param>
    public static IReadOnlyList<Tick> Of(Axis axis, IEnumerable<double> values, bool fromZero, int wanted)
    {
        var (min, max) = (double.MaxValue, double.MinValue);
        foreach (var value in values)
        {
            (min, max) = (Math.Min(min, value), Math.Max(max, value));
        }
        return axis.IsLogarithmic
            ? Logarithmic(min, max)
            : Linear(fromZero ? Math.Min(0, min) : min, fromZero ? Math.Max(0, max) : max, wanted);
    }

    /// <summary>Returns the position of a value on an axis: 0 at its first tick, 1 at its last.</summary>
    public static double ShareOf(Axis axis, IReadOnlyList<Tick> ticks, double value)
    {
        var (first, last) = (ticks[0].Value, ticks[^1].Value);
        return axis.IsLogarithmic ? Math.Log(value / first) / Math.Log(last / first) : (value - first) / (last - first);
    }

    /// <summary>Returns evenly spaced round values that cover the range.</summary>
    /// <param name="min">The lowest value; finite.</param>
    /// <param name="max">The highest value; finite.</param>
    /// <param name="wanted">The maximum number of steps, 1 or more.</param>
    public static IReadOnlyList<Tick> Linear(double min, double max, int wanted)
    {
        if (min > max)
        {
            (min, max) = (max, min);
        }
        if (max - min <= Math.Max(Math.Abs(min), Math.Abs(max)) * 1e-9)
        {
            // All values are the same: the axis ranges from zero to this value, or from zero to one.
            (min, max) = max == 0 ? (0, 1) : (Math.Min(0, min), Math.Max(0, max));
        }
        // The axis may begin below the range and then need one step more: increase the step until the limit holds.
        var step = Round((max - min) / wanted);
        while (Math.Ceiling(Near(max / step)) - Math.Floor(Near(min / step)) > wanted)
        {
            step = Round(step * 1.01);
        }
        var first = Math.Floor(Near(min / step));
        var last = Math.Ceiling(Near(max / step));
        return [.. Enumerable.Range(0, (int)(last - first) + 1).Select(i => (first + i) * step)
            .Select(value => new Tick(value, Numbers.OnAxis(value, step)))];
    }

    /// <summary>Returns powers of ten that cover the range, or 1, 2 and 5 times powers of ten if
    /// these would be few.</summary>
    /// <param name="min">The lowest value; above zero.</param>
    /// <param name="max">The highest value.</param>
    public static IReadOnlyList<Tick> Logarithmic(double min, double max)
    {
        var first = (int)Math.Floor(Near(Math.Log10(min)));
        var last = Math.Max(first + 1, (int)Math.Ceiling(Near(Math.Log10(max))));
        double[] mantissas = last - first <= 3 ? [1, 2, 5] : [1];
        var every = Math.Max(1, (last - first) / 6);
        var values = Enumerable.Range(first, last - first + 1)
            .Where(power => (power - first) % every == 0 || power == last)
            .SelectMany(power => mantissas.Select(m => m * Math.Pow(10, power)))
            .ToList();
        var from = values.FindLastIndex(v => v <= min * (1 + 1e-9));
        var to = values.FindIndex(v => v >= max * (1 - 1e-9));
        from = Math.Max(0, from);
        to = to <= from ? Math.Min(values.Count - 1, from + 1) : to;
        return [.. values[from..(to + 1)].Select(v => new Tick(v, Numbers.OnAxis(v, v)))];
    }

    /// <summary>Rounds a value up to 1, 2, 2.5 or 5 times a power of ten.</summary>
    private static double Round(double value)
    {
        var power = Math.Pow(10, Math.Floor(Math.Log10(value)));
        return Mantissas.First(m => m * power >= value * (1 - 1e-9)) * power;
    }

    /// <summary>Returns the nearest whole number if the difference is only a rounding error,
    /// otherwise the value.</summary>
    private static double Near(double value) => Math.Abs(value - Math.Round(value)) < 1e-6 ? Math.Round(value) : value;
}
