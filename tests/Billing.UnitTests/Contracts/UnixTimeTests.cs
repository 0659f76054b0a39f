using Billing.Contracts;
using Billing.UnitTests.Testing;
using FsCheck.Fluent;

namespace Billing.UnitTests.Contracts;

public sealed class UnixTimeTests
{
    [Fact]
    public void Microseconds_survive_the_conversion_to_a_time_and_back()
    {
        // The years 1700 to 2240.
        var microseconds = Generate.AnyLong.Select(value => value / 1080);
        microseconds.Holds(us => Assert.Equal(us, UnixTime.Microseconds(UnixTime.FromMicroseconds(us))));
    }

    [Fact]
    public void The_epoch_is_zero() => Assert.Equal(0, UnixTime.Microseconds(DateTimeOffset.UnixEpoch));

    [Fact]
    public void The_time_zone_does_not_matter()
    {
        var utc = new DateTimeOffset(2026, 1, 31, 12, 0, 0, TimeSpan.Zero);
        Assert.Equal(UnixTime.Microseconds(utc), UnixTime.Microseconds(utc.ToOffset(TimeSpan.FromHours(9))));
    }

    [Fact]
    public void The_current_time_is_that_of_the_clock()
    {
        var time = new ManualTime();
        var before = time.Microseconds();
        time.Advance(TimeSpan.FromMilliseconds(1.5));
        Assert.Equal(1500, time.Microseconds() - before);
    }
}
