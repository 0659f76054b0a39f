using System.Globalization;

namespace Billing.Reporting.Charts;

/// <summary>The positions of values on an axis, and its labels.</summary>
internal abstract class Scale
{
    public abstract IReadOnlyList<Tick> Ticks { get; }

    /// <summary>Returns the position of a value: 0 at the start of the axis, 1 at its end.</summary>
    public abstract double At(double value);

    /// <summary>Creates a scale that includes all given values.</summary>
    /// <param name="axis">The axis.</param>
    /// <param name="values">The values, at least one of which the axis can show.</param>
    /// <param name="fromZero">Whether a linear axis begins at zero.</param>
    /// <param name="wanted">The maximum number of steps.</param>
    public static Scale For(Axis axis, IEnumerable<double> values, bool fromZero, int wanted)
    {
        var (min, max) = (double.MaxValue, double.MinValue);
        foreach (var value in values.Where(v => Shows(axis, v)))
        {
            (min, max) = (Math.Min(min, value), Math.Max(max, value));
        }
        return axis.IsLogarithmic
            ? new Logarithmic(Charts.Ticks.Logarithmic(min, max))
            : new Linear(Charts.Ticks.Linear(fromZero ? Math.Min(0, min) : min, fromZero ? Math.Max(0, max) : max, wanted));
    }

    /// <summary>Whether an axis can show a value.</summary>
    public static bool Shows(Axis axis, double value) => double.IsFinite(value) && (!axis.IsLogarithmic || value > 0);

    private sealed class Linear(IReadOnlyList<Tick> ticks) : Scale
    {
        public override IReadOnlyList<Tick> Ticks => ticks;

        public override double At(double value) => (value - ticks[0].Value) / (ticks[^1].Value - ticks[0].Value);
    }

    private sealed class Logarithmic(IReadOnlyList<Tick> ticks) : Scale
    {
        public override IReadOnlyList<Tick> Ticks => ticks;

        public override double At(double value) =>
            Math.Log(value / ticks[0].Value) / Math.Log(ticks[^1].Value / ticks[0].Value);
    }

    /// <summary>A scale of percentiles, from 0 to below 100, on which the step from 99 to 99.9 is as wide as that from 90 to 99.
    /// </summary>
    public sealed class Percentiles : Scale
    {
        private readonly double _end;

        /// <summary>Creates the scale.</summary>
        /// <param name="max">The highest percentile to show, below 100.</param>
        public Percentiles(double max)
        {
            _end = Math.Max(1, Nines(max));
            Ticks =
            [
                new Tick(0, "0 %"), new Tick(50, "50 %"),
                .. Enumerable.Range(1, (int)Math.Floor(_end + 1e-9)).Select(nines => 100 - (100 / Math.Pow(10, nines)))
                    .Select(p => new Tick(p, p.ToString("0.#######", CultureInfo.InvariantCulture) + " %")),
            ];
        }

        public override IReadOnlyList<Tick> Ticks { get; }

        public override double At(double value) => Nines(value) / _end;

        private static double Nines(double percentile) => -Math.Log10(1 - (Math.Clamp(percentile, 0, 99.9999999) / 100));
    }
}
