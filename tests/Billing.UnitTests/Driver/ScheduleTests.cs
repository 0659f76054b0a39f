using Billing.Driver;
using Billing.UnitTests.Testing;
using FsCheck.Fluent;

namespace Billing.UnitTests.Driver;

public sealed class ScheduleTests
{
    [Theory]
    [InlineData(200, 4, 800)]
    [InlineData(0.5, 1, 1)]
    [InlineData(3, 0.5, 2)]
    public void The_number_of_requests_follows_from_rate_and_duration(double rate, double seconds, int requests) =>
        Assert.Equal(requests, new Schedule([new Phase("", seconds, rate, rate)]).Requests().Count());

    [Fact]
    public void At_a_constant_rate_a_request_is_due_at_its_number_divided_by_the_rate() =>
        Gen.Choose(1, 10_000).Two().Holds(drawn =>
        {
            var (rate, number) = drawn;
            var schedule = new Schedule([new Phase("", (number + 1.0) / rate, rate, rate)]);

            Assert.Equal(
                number / (double)rate, schedule.Requests().ElementAt(number).Due.TotalSeconds, tolerance: 1e-6);
        });

    [Fact]
    public void A_rate_that_rises_or_falls_sends_as_many_requests_as_the_area_below_it_and_in_order() =>
        Gen.Choose(0, 500).Two().Holds(drawn =>
        {
            var (from, to) = drawn;
            var due = new Schedule([new Phase("", 10, from, to)]).Requests().Select(r => r.Due.TotalSeconds).ToList();

            Assert.Equal((from + to) * 5, due.Count);
            Assert.Equal(due.Order(), due);
            // In the first half, the area of the first trapezoid.
            Assert.Equal(((from * 3) + to) * 2.5 / 2, due.Count(s => s < 5), tolerance: 1.01);
            Assert.All(due, s => Assert.InRange(s, 0, 10));
        });

    [Fact]
    public void Phases_follow_one_another_and_each_request_knows_its_own()
    {
        var requests = new Schedule([new Phase("a", 1, 10, 10), new Phase("b", 2, 5, 5)]).Requests().ToList();

        Assert.Equal([.. Enumerable.Repeat(0, 10), .. Enumerable.Repeat(1, 10)], requests.Select(r => r.Phase));
        Assert.Equal(
            (0.9, 1.0, 2.8),
            (requests[9].Due.TotalSeconds, requests[10].Due.TotalSeconds, requests[19].Due.TotalSeconds));
    }
}
