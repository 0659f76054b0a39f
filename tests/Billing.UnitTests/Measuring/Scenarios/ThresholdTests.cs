using Billing.Measuring.Scenarios;
using Billing.ScenarioFiles;

namespace Billing.UnitTests.Measuring.Scenarios;

public sealed class ThresholdTests
{
    [Theory]
    [InlineData(Threshold.MaxErrorPercent, 5, 5, false)]
    [InlineData(Threshold.MaxErrorPercent, 4.99, 5, true)]
    [InlineData(Threshold.MaxP50Ms, 20, 20, false)]
    [InlineData(Threshold.MaxP50Ms, 19.9, 20, true)]
    [InlineData(Threshold.MaxP99Ms, 80, 80, false)]
    [InlineData(Threshold.MaxP99Ms, 0, 80, true)]
    [InlineData(Threshold.MinRps, 95, 95, false)]
    [InlineData(Threshold.MinRps, 95.1, 95, true)]
    public void A_threshold_may_be_reached_but_not_exceeded(string option, double limit, double value, bool missed)
    {
        var result = new Threshold(option, limit).Check(Calls(ok: 95, failed: 5));

        Assert.Equal(new ThresholdFigures(option, limit, value, missed), result);
    }

    [Theory]
    [InlineData(Threshold.MaxP50Ms, 60_000, true)]
    [InlineData(Threshold.MaxP99Ms, 60_000, true)]
    [InlineData(Threshold.MinRps, 1, true)]
    [InlineData(Threshold.MaxErrorPercent, 99, true)]
    [InlineData(Threshold.MaxErrorPercent, 100, false)]
    public void Without_answered_calls_the_latency_thresholds_are_missed(string option, double limit, bool missed)
    {
        Assert.Equal(missed, new Threshold(option, limit).Check(Calls(ok: 0, failed: 5)).Missed);
        Assert.Equal(missed, new Threshold(option, limit).Check(Calls(ok: 0, failed: 0)).Missed);
    }

    [Theory]
    [InlineData(99, 1, false)]
    [InlineData(98, 2, true)]
    [InlineData(1, 99, true)]
    public void By_default_the_threshold_is_missed_if_more_than_one_percent_of_the_calls_fail(
        int ok, int failed, bool missed) =>
        Assert.Equal(missed, Threshold.ByDefault.Check(Calls(ok, failed)).Missed);

    [Fact]
    public void A_result_names_the_threshold_and_the_measured_value()
    {
        Assert.Equal(
            "Missed: --max-p99-ms 50.5, measured 80", $"{new Threshold(Threshold.MaxP99Ms, 50.5).Check(Calls(95, 5))}");
        Assert.Equal(
            "Missed: --max-p99-ms 50.5, no call was answered",
            $"{new Threshold(Threshold.MaxP99Ms, 50.5).Check(Calls(0, 5))}");
        Assert.Equal("Met: --min-rps 90, measured 95", $"{new Threshold(Threshold.MinRps, 90).Check(Calls(95, 5))}");
    }

    private static CallFigures Calls(int ok, int failed) =>
        new(ok + failed, ok, failed, OkPerS: ok, 0, 0, P50Ms: ok == 0 ? 0 : 20, 0, 0, P99Ms: ok == 0 ? 0 : 80, 0);
}
