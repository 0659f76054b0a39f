using Billing.Contracts;
using Billing.Proxy;
using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Grpc.Core;

namespace Billing.UnitTests.Proxy;

public sealed class AdmissionTests : IDisposable
{
    private readonly Admission _admission = Admissions.With(new ProxyOptions
    {
        InFlightMax = 2,
        RetryAfter = TimeSpan.FromMilliseconds(250),
    });

    public void Dispose() => _admission.Dispose();

    [Fact]
    public void A_call_above_the_limit_is_refused_with_a_retry_delay()
    {
        using var first = _admission.Enter(Admissions.Caller).Value;
        using var second = _admission.Enter(Admissions.Caller).Value;
        var e = Assert.Throws<FailureException>(() => _admission.Enter(Admissions.Caller).Value).Failure;
        Assert.Equal(StatusCode.ResourceExhausted, e.Status);
        Assert.Equal(ErrorReasons.TooManyInFlight, e.Reason);
        Assert.InRange(e.RetryAfter!.Value.TotalMilliseconds, 125, 375);
        Assert.Contains("Billing:Proxy:InFlightMax", e.Message, StringComparison.Ordinal);
        Assert.Equal(2, _admission.InFlight);
    }

    [Fact]
    public void An_answered_call_frees_its_place()
    {
        using var first = _admission.Enter(Admissions.Caller).Value;
        _admission.Enter(Admissions.Caller).Value.Dispose();
        using var second = _admission.Enter(Admissions.Caller).Value;
        Assert.Equal(2, _admission.InFlight);
    }

    [Fact]
    public void A_call_that_has_ended_keeps_its_place_until_its_commands_are_answered()
    {
        var call = _admission.Enter(Admissions.Caller).Value;
        var (first, second) = (call.Hold(), call.Hold());
        call.Dispose();
        first.Dispose();
        Assert.Equal(1, _admission.InFlight);
        second.Dispose();
        Assert.Equal(0, _admission.InFlight);
    }

    [Fact]
    public void The_latency_of_a_cancelled_call_counts_until_its_command_is_answered()
    {
        var time = new ManualTime();
        using var admission = Admissions.With(
            new ProxyOptions { LatencyTarget = TimeSpan.FromMilliseconds(100) }, time: time);
        var places = admission.Places;
        var commands = new List<Admission.Admitted>();
        for (var i = 0; i < 20; i++)
        {
            using var call = admission.Enter(Admissions.Caller).Value;
            commands.Add(call.Hold());
        }
        time.Advance(TimeSpan.FromSeconds(1));
        commands.ForEach(command => command.Dispose());
        Assert.InRange(admission.Places, 1, places - 1);
    }

    [Fact]
    public void Streams_are_limited_to_their_share_and_calls_can_use_the_rest()
    {
        using var first = new StreamPlaces(_admission, Admissions.Caller, window: 8);
        var e =
            Assert.Throws<FailureException>(() => new StreamPlaces(_admission, Admissions.Caller, window: 8)).Failure;
        Assert.Equal(StatusCode.ResourceExhausted, e.Status);
        Assert.InRange(e.RetryAfter!.Value.TotalMilliseconds, 125, 375);
        Assert.Contains("Billing:Proxy:StreamPercent", e.Message, StringComparison.Ordinal);
        using var call = _admission.Enter(Admissions.Caller).Value;
        Assert.Equal((2, 1), (_admission.InFlight, _admission.OfStreams));
    }

    [Fact]
    public void A_stream_is_refused_if_calls_have_taken_every_place()
    {
        using var first = _admission.Enter(Admissions.Caller).Value;
        using var second = _admission.Enter(Admissions.Caller).Value;
        var e =
            Assert.Throws<FailureException>(() => new StreamPlaces(_admission, Admissions.Caller, window: 8)).Failure;
        Assert.Contains("Billing:Proxy:InFlightMax", e.Message, StringComparison.Ordinal);
        Assert.Equal((2, 0), (_admission.InFlight, _admission.OfStreams));
    }

    [Theory]
    [InlineData(10, 50, 5)]
    [InlineData(10, 100, 10)]
    [InlineData(3, 50, 1)]
    [InlineData(1, 1, 1)]
    [InlineData(10_000_000, 99, 9_900_000)]
    public void The_share_of_streams_is_rounded_down_and_is_at_least_one_place(int inFlightMax, int percent, int share)
    {
        using var admission = Admissions.With(new ProxyOptions { InFlightMax = inFlightMax, StreamPercent = percent });
        for (var caller = new CallerShares.Share(); admission.TryGrowStream(caller); caller = new CallerShares.Share())
        {
            while (admission.TryGrowStream(caller))
            {
                // One caller after the other takes as many as it may have.
            }
        }
        Assert.Equal(share, admission.OfStreams);
    }

    [Fact]
    public void Closing_is_signalled_to_streams()
    {
        Assert.False(_admission.Closing.IsCancellationRequested);
        _admission.Close();
        Assert.True(_admission.Closing.IsCancellationRequested);
    }

    [Fact]
    public void After_closing_new_calls_are_refused_and_admitted_calls_continue()
    {
        var taken = _admission.Enter(Admissions.Caller).Value;
        _admission.Close();
        var e = Assert.Throws<FailureException>(() => _admission.Enter(Admissions.Caller).Value).Failure;
        Assert.Equal(StatusCode.Unavailable, e.Status);
        Assert.Equal(ErrorReasons.ShuttingDown, e.Reason);
        Assert.Equal(1, _admission.InFlight);
        taken.Dispose();
        Assert.Equal(0, _admission.InFlight);
    }

    [Fact]
    public async Task Concurrent_calls_never_exceed_the_limit_and_all_places_are_freed()
    {
        var inside = 0;
        var callers = Enumerable.Range(0, 8).Select(_ => Task.Run(() =>
        {
            var most = 0;
            for (var i = 0; i < 5_000; i++)
            {
                var outcome = _admission.Enter(Admissions.Caller);
                // One that is refused may be admitted at the next attempt.
                if (outcome.Failure is null)
                {
                    using var admitted = outcome.Value;
                    most = Math.Max(most, Interlocked.Increment(ref inside));
                    Interlocked.Decrement(ref inside);
                }
            }
            return most;
        }));
        Assert.InRange((await Task.WhenAll(callers)).Max(), 1, 2);
        Assert.Equal(0, _admission.InFlight);
    }
}
