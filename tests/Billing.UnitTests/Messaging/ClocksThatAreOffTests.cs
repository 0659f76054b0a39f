using Billing.Contracts;
using Billing.Hosting;
using Billing.Messaging;
using Billing.UnitTests.Testing;

namespace Billing.UnitTests.Messaging;

/// <summary>A command on its way from a proxy over a broker to a backend, while the clock of one machine is off for
/// good. Proxies hear of three brokers, backends of a database, too.</summary>
public sealed class ClocksThatAreOffTests
{
    private const long TimeLeft = 20_000_000;

    private static readonly TimeSpan[] Off =
    [
        TimeSpan.FromDays(-3000), TimeSpan.FromHours(-1), TimeSpan.FromSeconds(-31), TimeSpan.Zero,
        TimeSpan.FromSeconds(31), TimeSpan.FromHours(1), TimeSpan.FromDays(3000),
    ];

    private readonly ManualTime _true = new();
    private readonly Dictionary<string, TimeSpan> _ahead = [];

    public static TheoryData<string, TimeSpan> Machines() =>
        Pairs(["proxy", "broker 1", "broker 2", "backend", "database"], Off);

    public static TheoryData<string, TimeSpan> Senders() =>
        Pairs(["proxy", "broker 1"], Off.Where(off => off != TimeSpan.FromSeconds(-31)));

    [Theory]
    [MemberData(nameof(Machines))]
    public void A_command_is_executed_until_its_deadline_and_no_longer(string machine, TimeSpan off)
    {
        _ahead[machine] = off;
        using var proxy = Clock("proxy", "broker 1", "broker 2", "broker 3");
        using var backend = Clock("backend", "broker 1", "broker 2", "broker 3", "database");

        var delivery = Send(proxy, backend);

        ExpiresAtItsDeadline(delivery, backend);
    }

    [Theory]
    [MemberData(nameof(Machines))]
    public void Every_service_has_the_right_time_and_names_the_wrong_clock(string machine, TimeSpan off)
    {
        _ahead[machine] = off;
        using var proxy = Clock("proxy", "broker 1", "broker 2", "broker 3");
        using var backend = Clock("backend", "broker 1", "broker 2", "broker 3", "database");

        foreach (var clock in (SteadyTime[])[proxy, backend])
        {
            Assert.Equal(_true.GetUtcNow(), clock.GetUtcNow(), TimeSpan.FromMilliseconds(100));
            Assert.Equal(_true.GetUtcNow(), clock.AgreedClock().GetUtcNow(), TimeSpan.FromMilliseconds(100));
            Assert.True(clock.IsCertain);
            Assert.All(clock.Others, other =>
                Assert.InRange((other.Ahead - _ahead.GetValueOrDefault(other.Clock)).TotalMilliseconds, -100, 100));
        }
        _true.Advance(TimeSpan.FromDays(2));
        Assert.Equal(_true.GetUtcNow(), backend.GetUtcNow(), TimeSpan.FromMilliseconds(100));
    }

    /// <summary>Of a single broker: a proxy cannot tell which clock is wrong, its own or the broker's.
    /// The backend can.</summary>
    [Theory]
    [MemberData(nameof(Senders))]
    public void The_backend_corrects_the_deadline_of_a_proxy_whose_clock_is_wrong(string machine, TimeSpan off)
    {
        _ahead[machine] = off;
        using var proxy = Clock("proxy", "broker 1");
        using var backend = Clock("backend", "broker 1", "database");

        var delivery = Send(proxy, backend);

        Assert.Equal(off == TimeSpan.Zero, proxy.IsCertain);
        ExpiresAtItsDeadline(delivery, backend);
    }

    [Fact]
    public void The_time_that_a_command_has_waited_in_its_proxy_counts()
    {
        using var proxy = Clock("proxy");
        using var backend = Clock("backend");

        var delivery = Send(proxy, backend, waited: TimeSpan.FromSeconds(25));

        Assert.True(IsExpired(delivery, backend));
    }

    [Fact]
    public void A_command_without_a_deadline_has_none_whatever_the_clocks_show()
    {
        _ahead["proxy"] = TimeSpan.FromDays(3000);
        using var proxy = Clock("proxy");
        using var backend = Clock("backend");
        var command = Samples.PaymentCommand();
        command.ReceivedUnixUs = proxy.Microseconds();

        Assert.Equal(0, CommandDeadline.Of(command, UnixTime.Microseconds(_true.GetUtcNow()), backend));
    }

    private static TheoryData<string, TimeSpan> Pairs(IEnumerable<string> machines, IEnumerable<TimeSpan> offs) =>
        [.. from machine in machines from off in offs select (machine, off)];

    private void ExpiresAtItsDeadline(RecordingDelivery delivery, TimeProvider backend)
    {
        Assert.False(IsExpired(delivery, backend));
        _true.Advance(TimeSpan.FromSeconds(19));
        Assert.False(IsExpired(delivery, backend));
        _true.Advance(TimeSpan.FromSeconds(2));
        Assert.True(IsExpired(delivery, backend));
    }

    private static bool IsExpired(RecordingDelivery delivery, TimeProvider backend) =>
        delivery.DeadlineUnixUs < backend.Microseconds();

    private RecordingDelivery Send(TimeProvider proxy, TimeProvider backend, TimeSpan waited = default)
    {
        var command = Samples.PaymentCommand();
        command.ReceivedUnixUs = proxy.Microseconds();
        command.DeadlineUnixUs = command.ReceivedUnixUs + TimeLeft;
        _true.Advance(waited);
        var appended = UnixTime.Microseconds(_true.GetUtcNow() + _ahead.GetValueOrDefault("broker 1"));
        return new RecordingDelivery(command) { DeadlineUnixUs = CommandDeadline.Of(command, appended, backend) };
    }

    private SteadyTime Clock(string machine, params string[] others)
    {
        var wall = new Wall(_true, _ahead.GetValueOrDefault(machine));
        var clock = new SteadyTime(wall);
        foreach (var other in others)
        {
            var shown = _true.GetUtcNow() + _ahead.GetValueOrDefault(other);
            clock.Hear(
                other, shown, TimeSpan.FromMilliseconds(1),
                wall.GetTimestamp() - TimeSpan.FromMilliseconds(20).Ticks, wall.GetTimestamp());
        }
        clock.Set();
        return clock;
    }

    private sealed class Wall(ManualTime time, TimeSpan ahead) : TimeProvider
    {
        public override long TimestampFrequency => time.TimestampFrequency;

        public override DateTimeOffset GetUtcNow() => time.GetUtcNow() + ahead;

        public override long GetTimestamp() => time.GetTimestamp();

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
            time.CreateTimer(callback, state, dueTime, period);
    }
}
