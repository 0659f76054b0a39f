using Billing.Reporting.Charts;
using Billing.UnitTests.Testing;
using FsCheck;
using FsCheck.Fluent;

namespace Billing.UnitTests.Reporting;

public sealed class TicksTests
{
    private static readonly Gen<double> Magnitude =
        from mantissa in Gen.Choose(1, 99_999)
        from power in Gen.Choose(-9, 9)
        select mantissa * Math.Pow(10, power);

    private static readonly Gen<(double Min, double Max, int Wanted)> Ranges =
        from a in Magnitude
        from b in Magnitude
        from signA in Gen.Elements(-1, 0, 1)
        from signB in Gen.Elements(-1, 0, 1)
        from wanted in Gen.Choose(2, 12)
        select (Math.Min(a * signA, b * signB), Math.Max(a * signA, b * signB), wanted);

    [Fact]
    public void Linear_ticks_cover_the_values_in_a_limited_number_of_equal_round_steps() => Ranges.Holds(
        range =>
        {
            var ticks = Ticks.Linear(range.Min, range.Max, range.Wanted).ToList();
            var step = ticks[1].Value - ticks[0].Value;
            Assert.InRange(ticks.Count, 2, range.Wanted + 1);
            Assert.True(ticks[0].Value <= range.Min + (step * 1e-5), $"{ticks[0]} is above {range.Min}");
            Assert.True(ticks[^1].Value >= range.Max - (step * 1e-5), $"{ticks[^1]} is below {range.Max}");
            Assert.All(
                ticks.Zip(ticks.Skip(1)),
                pair => Assert.InRange(pair.Second.Value - pair.First.Value, step * (1 - 1e-6), step * (1 + 1e-6)));
            Assert.Contains(
                Math.Round(step / Math.Pow(10, Math.Floor(Math.Log10(step) + 1e-9)), 6), new[] { 1, 2, 2.5, 5 });
        },
        tries: 2000);

    [Fact]
    public void The_labels_of_linear_ticks_are_distinct() =>
        Ranges.Where(r => r.Max - r.Min > 1e-6 * Math.Max(1, Math.Abs(r.Max))).Holds(range =>
        {
            var labels = Ticks.Linear(range.Min, range.Max, range.Wanted).Select(t => t.Label).ToList();
            Assert.Equal(labels.Count, labels.Distinct().Count());
        });

    [Theory]
    [InlineData(0, 100, 5, "0 20 40 60 80 100")]
    [InlineData(0, 9_312, 6, "0 2,000 4,000 6,000 8,000 10,000")]
    [InlineData(0, 0.0123, 5, "0.0000 0.0025 0.0050 0.0075 0.0100 0.0125")]
    [InlineData(0, 0, 5, "0.0 0.2 0.4 0.6 0.8 1.0")]
    [InlineData(7, 7, 4, "0 2 4 6 8")]
    [InlineData(-3, 5, 4, "-5.0 -2.5 0.0 2.5 5.0")]
    [InlineData(0, 24, 10, "0.0 2.5 5.0 7.5 10.0 12.5 15.0 17.5 20.0 22.5 25.0")]
    public void Linear_ticks_have_as_many_decimals_as_their_step(double min, double max, int wanted, string labels) =>
        Assert.Equal(labels, string.Join(' ', Ticks.Linear(min, max, wanted).Select(t => t.Label)));

    [Fact]
    public void Logarithmic_ticks_cover_the_values_in_ascending_order()
    {
        var ranges = from a in Magnitude from b in Magnitude select (Min: Math.Min(a, b), Max: Math.Max(a, b));
        ranges.Holds(
            range =>
            {
                var ticks = Ticks.Logarithmic(range.Min, range.Max);
                Assert.InRange(ticks.Count, 2, 14);
                Assert.True(ticks[0].Value <= range.Min * (1 + 1e-6));
                Assert.True(ticks[^1].Value >= range.Max * (1 - 1e-6));
                Assert.All(ticks.Zip(ticks.Skip(1)), pair => Assert.True(pair.First.Value < pair.Second.Value));
            },
            tries: 2000);
    }

    [Theory]
    [InlineData(3, 300, "2 5 10 20 50 100 200 500")]
    [InlineData(1, 1, "1 2")]
    [InlineData(0.01, 40_000, "0.01 0.1 1 10 100 1,000 10,000 100,000")]
    public void Logarithmic_ticks_include_twos_and_fives_if_there_are_few_powers_of_ten(
        double min, double max, string labels) =>
        Assert.Equal(labels, string.Join(' ', Ticks.Logarithmic(min, max).Select(t => t.Label)));
}
