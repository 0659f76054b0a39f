using Billing.Reporting;

namespace Billing.UnitTests.Reporting;

public sealed class SpreadTests
{
    [Theory]
    [InlineData(new double[0], 0, 0, 0)]
    [InlineData(new double[] { 4 }, 4, 4, 4)]
    [InlineData(new double[] { 9, 1, 5 }, 5, 1, 9)]
    [InlineData(new double[] { 9, 1, 5, 7 }, 6, 1, 9)]
    public void The_median_is_the_middle_of_the_sorted_values(double[] values, double median, double min, double max) =>
        Assert.Equal(new Spread(median, min, max), Spread.Of(values));
}
