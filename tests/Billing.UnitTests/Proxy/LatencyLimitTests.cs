using Billing.Proxy.Limits;

namespace Billing.UnitTests.Proxy;

public sealed class LatencyLimitTests
{
    private static readonly TimeSpan Target = TimeSpan.FromMilliseconds(100);

    private readonly ManualTime _time = new();

    [Theory]
    [InlineData(1_000, 10)]
    [InlineData(10_000, 10)]
    [InlineData(4_000, 2)]
    [InlineData(500, 50)]
    public void Under_overload_admitted_calls_have_the_target_latency_and_the_full_rate(int capacityPerS, int overload)
    {
        var limit = new LatencyLimit(50_000, Target, _time);
        var server = new Server(limit, _time, capacityPerS);
        server.Run(TimeSpan.FromSeconds(5), capacityPerS * overload);
        server.ResetCounts();

        server.Run(TimeSpan.FromSeconds(20), capacityPerS * overload);

        Assert.InRange(server.AverageLatency, Target * 0.3, Target * 1.3);
        Assert.InRange(server.Answered, (long)(capacityPerS * 20 * 0.97), capacityPerS * 20);
        Assert.InRange(server.LongestLatency, TimeSpan.Zero, Target * 3);
    }

    [Fact]
    public void With_fast_answers_the_limit_grows_to_its_maximum()
    {
        var limit = new LatencyLimit(5_000, Target, _time);

        for (var i = 0; i < 1_000; i++)
        {
            limit.Answered(TimeSpan.FromMilliseconds(10), limit.Current);
            _time.Advance(TimeSpan.FromMilliseconds(10));
        }

        Assert.Equal(5_000, limit.Current);
    }

    [Fact]
    public void With_few_calls_in_flight_the_limit_does_not_grow()
    {
        var limit = new LatencyLimit(5_000, Target, _time);
        var before = limit.Current;

        for (var i = 0; i < 1_000; i++)
        {
            limit.Answered(TimeSpan.FromMilliseconds(10), inFlight: 3);
            _time.Advance(TimeSpan.FromMilliseconds(10));
        }

        Assert.Equal(before, limit.Current);
    }

    [Theory]
    [InlineData(50_000, LatencyLimit.Min)]
    [InlineData(5, 5)]
    public void However_slow_the_answers_some_calls_are_admitted(int max, int least)
    {
        var limit = new LatencyLimit(max, Target, _time);

        for (var i = 0; i < 1_000; i++)
        {
            limit.Answered(TimeSpan.FromSeconds(30), limit.Current);
            _time.Advance(TimeSpan.FromSeconds(1));
        }

        Assert.Equal(least, limit.Current);
    }

    [Fact]
    public void After_an_overload_the_normal_rate_is_admitted_again()
    {
        var limit = new LatencyLimit(50_000, Target, _time);
        var server = new Server(limit, _time, perSecond: 2_000);
        server.Run(TimeSpan.FromSeconds(20), 20_000);

        server.Run(TimeSpan.FromSeconds(1), 1_600);
        server.ResetCounts();
        server.Run(TimeSpan.FromSeconds(10), 1_600);

        Assert.InRange(server.Refused, 0, 0);
    }

    /// <summary>A server that answers calls one by one at a constant rate.</summary>
    private sealed class Server(LatencyLimit limit, ManualTime time, int perSecond)
    {
        private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(1);

        private readonly Queue<long> _waiting = new();
        private double _work;
        private double _arriving;
        private TimeSpan _total;

        public long Answered { get; private set; }

        public long Refused { get; private set; }

        public TimeSpan LongestLatency { get; private set; }

        public TimeSpan AverageLatency => _total / Answered;

        public void ResetCounts() => (Answered, Refused, _total, LongestLatency) = (0, 0, TimeSpan.Zero, TimeSpan.Zero);

        public void Run(TimeSpan duration, int arrivalsPerS)
        {
            for (var passed = TimeSpan.Zero; passed < duration; passed += Step)
            {
                for (_arriving += arrivalsPerS * Step.TotalSeconds; _arriving >= 1; _arriving--)
                {
                    Arrive();
                }
                time.Advance(Step);
                for (_work = Math.Min(_work, 1) + (perSecond * Step.TotalSeconds); _work >= 1
                    && _waiting.Count > 0; _work--)
                {
                    Answer();
                }
            }
        }

        private void Arrive()
        {
            if (_waiting.Count < limit.Current)
            {
                _waiting.Enqueue(time.GetTimestamp());
            }
            else
            {
                Refused++;
            }
        }

        private void Answer()
        {
            var latency = time.GetElapsedTime(_waiting.Peek());
            limit.Answered(latency, _waiting.Count);
            _waiting.Dequeue();
            Answered++;
            _total += latency;
            LongestLatency = latency > LongestLatency ? latency : LongestLatency;
        }
    }
}
