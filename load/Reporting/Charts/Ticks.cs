namespace Billing.Reporting.Charts;

/// <summary>A value of an axis that has a label.</summary>
internal readonly record struct Tick(double Value, string Label);

/// <summary>Round values for an axis.</summary>
internal static class Ticks
{
    private static readonly double[] Mantissas = [1, 2, 2.5, 5, 10];

    /// <summary>Evenly spaced round values, from one at or below the least to one at or above the greatest.</summary>
    /// <param name="min">The least value; finite.</param>
    /// <param name="max">The greatest.</param>
    /// <param name="wanted">At most so many steps, 1 or more.</param>
    public static IReadOnlyList<Tick> Linear(double min, double max, int wanted)
    {
        if (min > max)
        {
            (min, max) = (max, min);
        }
        if (max - min <= Math.Max(Math.Abs(min), Math.Abs(max)) * 1e-9)
        {
            // All values are one: the axis spans from zero to it, or from zero to one.
            (min, max) = max == 0 ? (0, 1) : (Math.Min(0, min), Math.Max(0, max));
        }
        // To cover the whole range an axis may begin below it: one step fewer leaves room for that.
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

    /// <summary>Powers of ten, or 1, 2 and 5 times powers of ten where those would be few, from one at or below the least to
    /// one at or above the greatest.</summary>
    /// <param name="min">The least value; above zero.</param>
    /// <param name="max">The greatest.</param>
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

    /// <summary>The least of 1, 2, 2.5 and 5 times a power of ten that is not below a value.</summary>
    private static double Round(double value)
    {
        var power = Math.Pow(10, Math.Floor(Math.Log10(value)));
        return Mantissas.First(m => m * power >= value * (1 - 1e-9)) * power;
    }

    /// <summary>A value, or the whole number that it misses by no more than arithmetic does.</summary>
    private static double Near(double value) => Math.Abs(value - Math.Round(value)) < 1e-6 ? Math.Round(value) : value;
}
