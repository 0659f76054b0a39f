using Billing.Scenarios;
using NBomber.Contracts.Stats;

namespace Billing.ScenarioTests;

public sealed class FiguresTests
{
    private static readonly MeasurementStats None =
        new() { Request = new RequestStats(), Latency = new LatencyStats(), StatusCodes = [] };

    [Fact]
    public void Rates_are_calculated_over_the_time_that_the_calls_took()
    {
        var result = Figures.Of(Stats(Measured(60, "accepted"), []), TimeSpan.FromSeconds(4));

        Assert.Equal((4, 60, 15), (result.DurationS, result.Calls.Ok, result.Calls.OkPerS));
        Assert.Equal(60, result.Statuses["accepted"]);
        Assert.Empty(result.Steps);
    }

    [Fact]
    public void A_status_that_comes_from_a_step_is_counted_once()
    {
        StepStats[] steps =
        [
            new() { StepName = "payment", Ok = Measured(40, "accepted"), Fail = None },
            new() { StepName = "balance", Ok = Measured(20, "read"), Fail = None },
        ];
        var whole = Measured(60, "accepted");

        var result = Figures.Of(Stats(whole, steps), TimeSpan.FromSeconds(1));

        Assert.Equal([new("accepted", 40), new("read", 20)], result.Statuses.ToArray());
        Assert.Equal((40, 20), (result.Steps["payment"].Ok, result.Steps["balance"].Ok));
    }

    [Fact]
    public void Without_calls_the_rate_is_zero()
    {
        var result = Figures.Of(Stats(None, []), TimeSpan.Zero);

        Assert.Equal((0, 0), (result.Calls.Count, result.Calls.OkPerS));
    }

    private static ScenarioStats Stats(MeasurementStats ok, StepStats[] steps) =>
        new() { ScenarioName = "some", Ok = ok, Fail = None, StepStats = steps };

    private static MeasurementStats Measured(int count, string status) => new()
    {
        Request = new RequestStats { Count = count, RPS = count },
        Latency = new LatencyStats { Percent50 = 20 },
        StatusCodes = [new StatusCodeStats { StatusCode = status, Message = "", Count = count }],
    };
}
