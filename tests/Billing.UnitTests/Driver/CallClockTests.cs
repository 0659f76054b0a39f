using Billing.Driver;
using Billing.Journals;

namespace Billing.UnitTests.Driver;

public sealed class CallClockTests
{
    private const long StartUnixUs = 1_769_860_800_000_000;

    private readonly TwoClocks _time = new() { UnixUs = StartUnixUs };

    [Fact]
    public void It_starts_with_the_wall_clock_and_advances_with_the_monotonic_one()
    {
        var clock = new CallClock(_time);

        _time.MonotonicUs += 17;

        Assert.Equal(StartUnixUs + 17, clock.Now);
        Assert.Equal(new CallSpan(StartUnixUs, StartUnixUs + 17), clock.Since(StartUnixUs));
    }

    [Fact]
    public void A_wall_clock_that_steps_back_does_not_change_it()
    {
        var clock = new CallClock(_time);

        _time.UnixUs -= 3_600_000_000;

        Assert.Equal(StartUnixUs, clock.Now);
    }

    private sealed class TwoClocks : TimeProvider
    {
        public long UnixUs { get; set; }

        public long MonotonicUs { get; set; }

        public override long TimestampFrequency => 1_000_000;

        public override DateTimeOffset GetUtcNow() => DateTimeOffset.UnixEpoch.AddMicroseconds(UnixUs);

        public override long GetTimestamp() => MonotonicUs;
    }
}
