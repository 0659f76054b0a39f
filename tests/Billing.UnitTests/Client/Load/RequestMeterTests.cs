using Billing.Client.Load;
using Grpc.Core;

namespace Billing.UnitTests.Client.Load;

public sealed class RequestMeterTests
{
    [Fact]
    public async Task Requests_answered_and_failed_on_many_tasks_are_all_counted()
    {
        var meter = new RequestMeter(3000);
        await Task.WhenAll(Enumerable.Range(0, 3000).Select(n => Task.Run(() =>
        {
            if (n % 3 == 0)
            {
                meter.Failed(new RpcException(new Status(StatusCode.Unavailable, "away")));
            }
            else
            {
                meter.Answered(TimeSpan.FromMicroseconds(n), declined: n % 3 == 1);
            }
        })));
        var figures = meter.Figures();
        Assert.Equal(3000, meter.Done);
        Assert.Equal((1000, 1000), (figures.Ok, figures.Declined));
        Assert.Equal(1000, Assert.Single(figures.Errors, e => e.Key == "Unavailable: away").Value);
        Assert.Equal(Enumerable.Range(0, 3000).Where(n => n % 3 != 0).Select(n => (long)n), figures.LatenciesUs.Order());
    }
}
