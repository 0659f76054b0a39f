using System.Globalization;

namespace Billing.Reporting.Charts;

/// <summary>Where the values of an axis lie along it, and which of them have labels.</summary>
internal abstract class Scale
{
    public abstract IReadOnlyList<Tick> Ticks { get; }

    /// <summary>The place of a value: 0 where the axis begins, 1 where it ends.</summary>
    public abstract double At(double value);

    /// <summary>The scale that shows all of some values.</summary>
    /// <param name="axis">What they are.</param>
    /// <param name="values">At least one that the axis can show.</param>
    /// <param name="fromZero">Whether a linear axis begins at zero.</param>
    /// <param name="wanted">At most so many steps.</param>
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

    /// <summary>Percentiles, from 0 to below 100, with as much room for the step from 99 to 99.9 as for that from 90 to 99.
    /// </summary>
    public sealed class Percentiles : Scale
    {
        private readonly double _end;

        /// <summary>Creates the scale.</summary>
        /// <param name="max">The highest percentile to be shown, below 100.</param>
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
