using Billing.LoadClient;
using Grpc.Core;

namespace Billing.UnitTests.LoadClient;

public sealed class RequestMeterTests
{
    [Fact]
    public async Task Requests_answered_and_failed_on_many_tasks_are_all_counted()
    {
        var time = new ManualTime();
        var meter = new RequestMeter(3000, time);
        var now = time.GetTimestamp();
        await Task.WhenAll(Enumerable.Range(0, 3000).Select(n => Task.Run(() =>
        {
            if (n % 3 == 0)
            {
                meter.Failed(new RpcException(new Status(StatusCode.Unavailable, "stopping")));
            }
            else
            {
                meter.Answered(now - TimeSpan.FromMicroseconds(n).Ticks, declined: n % 3 == 1);
            }
        })));
        var figures = meter.Figures();
        Assert.Equal(3000, meter.Done);
        Assert.Equal((1000, 1000), (figures.Ok, figures.Declined));
        Assert.Equal(1000, Assert.Single(figures.Errors, e => e.Key == "Unavailable: stopping").Value);
        Assert.Equal(Enumerable.Range(0, 3000).Where(n => n % 3 != 0).Select(n => (long)n), figures.LatenciesUs.Order());
    }

    [Fact]
    public void An_answer_of_a_burst_is_timed_from_its_call_and_from_the_start_of_the_burst()
    {
        var time = new ManualTime();
        var meter = new RequestMeter(2, time);
        meter.BeginAt(time.GetTimestamp());
        meter.Answered(time.GetTimestamp(), declined: false);
        time.Advance(TimeSpan.FromSeconds(4));
        // The sending loop made this call late.
        var sent = time.GetTimestamp();
        time.Advance(TimeSpan.FromSeconds(1));
        meter.Answered(sent, declined: false);

        Assert.Equal([0, 1_000_000], meter.Figures().LatenciesUs);
        Assert.Equal([0, 5_000_000], meter.Figures().SinceStartUs);
    }

    [Fact]
    public void Requests_that_are_not_sent_at_once_are_not_timed_from_a_common_start()
    {
        var time = new ManualTime();
        var meter = new RequestMeter(1, time);
        meter.Answered(time.GetTimestamp(), declined: false);

        Assert.Empty(meter.Figures().SinceStartUs);
    }
}
