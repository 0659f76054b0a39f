using Billing.Contracts;
using Billing.Proxy;
using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Billing.Proxy.Security;
using Grpc.Core;

namespace Billing.UnitTests.Proxy.Security;

public sealed class CallerSharesTests
{
    private readonly ManualTime _time = new();
    private readonly Caller _greedy = new("greedy");
    private readonly Caller _modest = new("modest");

    [Fact]
    public void A_single_caller_may_take_every_place()
    {
        using var admission = With(places: 10);

        Assert.Equal(10, Take(admission, _greedy, 20));
    }

    [Fact]
    public void A_second_caller_is_admitted_as_soon_as_a_call_is_answered_until_both_have_half()
    {
        using var admission = With(places: 10);
        var taken = new Stack<Admission.Admitted>(Enumerable.Range(0, 10).Select(_ => admission.Enter(_greedy).Value));
        Assert.Equal(ErrorReasons.TooManyInFlight, Reason(admission, _modest));

        taken.Pop().Dispose();

        Assert.Equal(ErrorReasons.CallerLimitReached, Reason(admission, _greedy));
        Assert.Equal(1, Take(admission, _modest, 1));
        for (var i = 0; i < 4; i++)
        {
            taken.Pop().Dispose();
            Assert.Equal(ErrorReasons.CallerLimitReached, Reason(admission, _greedy));
        }
        taken.Pop().Dispose();
        Assert.Equal(1, Take(admission, _greedy, 1));
    }

    [Fact]
    public void A_caller_with_few_calls_is_always_admitted_beside_one_with_many()
    {
        using var admission = With(places: 10);
        Take(admission, _modest, 0);
        var refused = 0;
        for (var round = 0; round < 1_000; round++)
        {
            var held = new List<Admission.Admitted>();
            for (var i = 0; i < 100; i++)
            {
                TryTake(admission, _greedy, held);
                if (i % 50 == 49 && !TryTake(admission, _modest, held))
                {
                    refused++;
                }
            }
            held.ForEach(place => place.Dispose());
            _time.Advance(TimeSpan.FromMilliseconds(10));
        }

        // In the first round all places were taken before the first call of the second caller.
        Assert.Equal(2, refused);
    }

    [Fact]
    public void A_caller_without_calls_for_two_seconds_loses_its_share()
    {
        using var admission = With(places: 10);
        Take(admission, _modest, 1);
        Assert.Equal(5, Take(admission, _greedy, 10, keep: false));

        _time.Advance(TimeSpan.FromSeconds(2));

        Assert.Equal(9, Take(admission, _greedy, 20, keep: false));
    }

    [Fact]
    public void A_limit_per_caller_also_applies_in_an_idle_proxy()
    {
        using var admission = With(places: 100, limits: new LimitOptions { InFlightPerCaller = 3 });

        Assert.Equal(3, Take(admission, _greedy, 10));
        Assert.Equal(ErrorReasons.CallerLimitReached, Reason(admission, _greedy));
        Assert.Equal(3, Take(admission, _modest, 10));
    }

    [Fact]
    public void The_streams_of_a_single_caller_get_half_of_the_places_of_streams()
    {
        using var admission = With(places: 40);

        Assert.Equal(10, Open(admission, _greedy).Count);
    }

    [Fact]
    public void However_many_streams_a_caller_opens_there_is_always_room_for_another_callers()
    {
        using var admission = With(places: 40);

        var opened = Enumerable.Range(0, 5).Select(n => Open(admission, new Caller($"caller-{n}")).Count).ToList();

        Assert.Equal([10, 5, 3, 1, 1], opened);
        Assert.Equal(20, admission.OfStreams);
    }

    [Fact]
    public void As_streams_release_places_their_callers_get_equal_shares()
    {
        using var admission = With(places: 60);
        var first = Open(admission, _greedy);
        var second = Open(admission, _modest);
        Assert.Equal((15, 8), (first.Count, second.Count));

        for (var i = 0; i < 5; i++)
        {
            first.Pop().Dispose();
        }
        Open(admission, _modest).ToList().ForEach(second.Push);

        Assert.Equal((10, 10), (first.Count, second.Count));
        var refused = Refusal(() => new StreamPlaces(admission, _greedy, window: 1));
        Assert.Equal(ErrorReasons.CallerLimitReached, refused.Reason);
        Assert.Contains("Billing:Proxy:StreamPercent", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Streams_that_are_opened_at_the_same_time_take_no_more_than_their_callers_share()
    {
        for (var round = 0; round < 200; round++)
        {
            using var admission = With(places: 40);
            var opened = await Task.WhenAll(
                Enumerable.Range(0, 4).Select(_ => Task.Run(() => Open(admission, _greedy).Count)));
            Assert.Equal(10, opened.Sum());
        }
    }

    [Fact]
    public void The_places_of_a_stream_count_for_its_caller()
    {
        using var admission = With(places: 10, limits: new LimitOptions { InFlightPerCaller = 2 });

        using (new StreamPlaces(admission, _greedy, window: 5))
        {
            Assert.Equal(1, Take(admission, _greedy, 10, keep: false));
        }

        Assert.Equal(2, Take(admission, _greedy, 10, keep: false));
    }

    [Fact]
    public void Calls_above_the_rate_of_their_caller_are_refused_with_a_retry_delay()
    {
        using var admission = With(places: 1_000, limits: new LimitOptions { RequestsPerSecond = 5 });

        Assert.Equal(5, Take(admission, _greedy, 20));
        var refused = Assert.Throws<FailureException>(() => admission.Enter(_greedy).Value).Failure;

        Assert.Equal(ErrorReasons.CallerLimitReached, refused.Reason);
        Assert.NotNull(refused.RetryAfter);
        Assert.Contains("Billing:Limits:RequestsPerSecond", refused.Message, StringComparison.Ordinal);
        Assert.Equal(5, Take(admission, _modest, 20));
    }

    [Fact]
    public async Task A_stream_above_the_rate_is_slowed_down_and_not_refused()
    {
        using var admission = With(places: 1_000, limits: new LimitOptions { RequestsPerSecond = 10, Burst = 1 });
        using var places = new StreamPlaces(admission, _greedy, window: 5);
        await places.WaitForTurnAsync(TestContext.Current.CancellationToken);

        var next = places.WaitForTurnAsync(TestContext.Current.CancellationToken);

        Assert.False(next.IsCompleted);
        _time.Advance(TimeSpan.FromMilliseconds(100));
        await next;
    }

    private Admission With(int places, LimitOptions? limits = null) =>
        Admissions.With(new ProxyOptions { InFlightMax = places, StreamWindow = 1 }, limits, _time);

    /// <summary>Opens streams until one is refused.</summary>
    private static Stack<StreamPlaces> Open(Admission admission, Caller caller)
    {
        var opened = new Stack<StreamPlaces>();
        while (true)
        {
            try
            {
                opened.Push(new StreamPlaces(admission, caller, window: 1));
            }
            catch (FailureException e) when (e.Failure.Status == StatusCode.ResourceExhausted)
            {
                return opened;
            }
        }
    }

    private static int Take(Admission admission, Caller caller, int tries, bool keep = true)
    {
        var held = new List<Admission.Admitted>();
        for (var i = 0; i < tries; i++)
        {
            TryTake(admission, caller, held);
        }
        if (!keep)
        {
            held.ForEach(place => place.Dispose());
        }
        return held.Count;
    }

    private static bool TryTake(Admission admission, Caller caller, List<Admission.Admitted> held)
    {
        var outcome = admission.Enter(caller);
        if (outcome.Failure is null)
        {
            held.Add(outcome.Value);
        }
        return outcome.Failure is null;
    }

    private static string? Reason(Admission admission, Caller caller) => admission.Enter(caller).Failure?.Reason;

    private static Failure Refusal(Func<IDisposable> enter) => Assert.Throws<FailureException>(enter).Failure;
}
