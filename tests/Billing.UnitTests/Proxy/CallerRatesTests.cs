using Billing.Contracts;
using Billing.Proxy;
using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Grpc.Core;

namespace Billing.UnitTests.Proxy;

public sealed class CallerRatesTests : IDisposable
{
    private readonly ManualTime _time = new();
    private Admission? _admission;

    public void Dispose() => _admission?.Dispose();

    [Theory]
    [InlineData(1, 10_000)]
    [InlineData(3, 10_000)]
    [InlineData(7, 10_000)]
    [InlineData(29, 10_000)]
    [InlineData(1_000, 10_000)]
    [InlineData(10_000_000, 100)]
    public void A_caller_that_makes_as_many_calls_as_it_can_gets_the_rate_that_is_set(int perSecond, int milliseconds)
    {
        // With a burst of one, a caller that asks a moment late would lose the part of a token that has come since.
        Limit(perSecond, burst: Math.Max(2, perSecond / 10));
        Enter();

        var admitted = 0;
        for (var elapsed = 0; elapsed < milliseconds; elapsed += 20)
        {
            _time.Advance(TimeSpan.FromMilliseconds(20));
            admitted += Enter();
        }

        var due = (int)((long)perSecond * milliseconds / 1_000);
        Assert.InRange(admitted, due - 1, due);
    }

    [Theory]
    [InlineData(0, 29)]
    [InlineData(3, 3)]
    [InlineData(100, 100)]
    public void An_idle_caller_may_make_its_burst_of_calls_at_once_and_no_more(int burst, int admitted)
    {
        Limit(perSecond: 29, burst);
        Enter();
        _time.Advance(TimeSpan.FromHours(1));

        Assert.Equal(admitted, Enter());
        _time.Advance(TimeSpan.FromMilliseconds(100));
        Assert.Equal(2, Enter());
    }

    [Theory]
    [InlineData(4, 250)]
    [InlineData(29, 35)]
    [InlineData(10_000, 1)]
    public void A_refused_caller_is_told_when_its_next_call_is_due(int perSecond, int milliseconds)
    {
        Limit(perSecond, burst: 1);
        Enter();

        var refused = Assert.Throws<FailureException>(() => _admission!.Enter(Admissions.Caller).Value).Failure;
        Assert.Equal(ErrorReasons.CallerLimitReached, refused.Reason);
        Assert.Equal(milliseconds, refused.RetryAfter!.Value.TotalMilliseconds);

        _time.Advance(TimeSpan.FromMilliseconds(milliseconds));
        Assert.Equal(1, Enter());
    }

    [Fact]
    public async Task Payments_on_streams_wait_for_their_turns_one_after_the_other()
    {
        Limit(perSecond: 10, burst: 1);
        using var stream = new StreamPlaces(_admission!, Admissions.Caller, window: 1);
        var turns = Enumerable.Range(0, 4)
            .Select(_ => stream.WaitForTurnAsync(CancellationToken.None).AsTask()).ToList();

        for (var due = 1; due <= turns.Count; due++)
        {
            await turns[due - 1];
            Assert.All(turns.Skip(due), turn => Assert.False(turn.IsCompleted));
            _time.Advance(TimeSpan.FromMilliseconds(100));
        }
    }

    [Fact]
    public async Task A_stream_that_ends_while_it_waits_gives_its_turn_back()
    {
        Limit(perSecond: 10, burst: 1);
        Enter();
        using var ended = new CancellationTokenSource();
        using var stream = new StreamPlaces(_admission!, Admissions.Caller, window: 1);
        var turn = stream.WaitForTurnAsync(ended.Token).AsTask();

        await ended.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => turn);
        _time.Advance(TimeSpan.FromMilliseconds(100));

        Assert.Equal(1, Enter());
    }

    private void Limit(int perSecond, int burst) => _admission = Admissions.With(
        new ProxyOptions(), new LimitOptions { RequestsPerSecond = perSecond, Burst = burst }, _time);

    /// <summary>Makes calls until one is refused, and returns how many were not.</summary>
    private int Enter()
    {
        for (var admitted = 0; ; admitted++)
        {
            var outcome = _admission!.Enter(Admissions.Caller);
            if (outcome.Failure is { } refused)
            {
                Assert.Equal(StatusCode.ResourceExhausted, refused.Status);
                return admitted;
            }
            outcome.Value.Dispose();
        }
    }
}
