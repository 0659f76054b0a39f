using Billing.Measuring.Driving;
using Billing.UnitTests.Testing;
using FsCheck.Fluent;

namespace Billing.UnitTests.Measuring.Driving;

public sealed class ArrivalsTests
{
    [Theory]
    [InlineData(100, 0.0, 1)]
    [InlineData(100, 0.0099, 1)]
    [InlineData(100, 0.01, 2)]
    [InlineData(100, 1.0, 101)]
    [InlineData(0.5, 1.9, 1)]
    [InlineData(0.5, 2.0, 2)]
    public void The_number_of_requests_due_by_a_time_follows_from_the_rate(double rate, double seconds, long due) =>
        Assert.Equal(due, new Arrivals(rate).DueBy(TimeSpan.FromSeconds(seconds)));

    [Fact]
    public void No_request_is_due_before_the_start() => Assert.Equal(0, new Arrivals(100).DueBy(TimeSpan.FromTicks(-1)));

    [Theory]
    [InlineData(200, 4, 800)]
    [InlineData(0.5, 1, 1)]
    [InlineData(3, 0.5, 2)]
    public void The_number_of_requests_within_a_duration_follows_from_the_rate(double rate, double seconds, long requests) =>
        Assert.Equal(requests, new Arrivals(rate).Within(TimeSpan.FromSeconds(seconds)));

    [Fact]
    public void A_request_is_due_at_its_number_divided_by_the_rate() => Gen.Choose(1, 100_000).Two().Holds(drawn =>
    {
        var (rate, number) = drawn;
        var arrivals = new Arrivals(rate);

        var due = arrivals.TimeOf(number);

        Assert.Equal(number / (double)rate, due.TotalSeconds, tolerance: 1e-6);
        Assert.InRange(arrivals.DueBy(due), number, number + 1);
    });
}
