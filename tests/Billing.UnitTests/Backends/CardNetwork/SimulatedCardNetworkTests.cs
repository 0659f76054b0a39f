using Billing.Backends.CardNetwork;
using Microsoft.Extensions.Options;

namespace Billing.UnitTests.Backends.CardNetwork;

public sealed class SimulatedCardNetworkTests
{
    private readonly ManualTime _time = new();

    [Fact]
    public void Without_jitter_it_answers_at_once()
    {
        var network = Network(new JitterOptions());
        Assert.True(network.AuthoriseAsync(CancellationToken.None).IsCompletedSuccessfully);
        Assert.True(network.EnquireAsync(CancellationToken.None).IsCompletedSuccessfully);
        Assert.Empty(_time.Delays);
    }

    [Fact]
    public async Task The_delays_stay_within_their_ranges_and_cover_them()
    {
        var network = Network(new JitterOptions { Enabled = true, Seed = 7 });
        var payments = Enumerable.Range(0, 1000).Select(_ => network.AuthoriseAsync(CancellationToken.None)).ToList();
        var delays = _time.Delays.Select(d => d.TotalMilliseconds).ToList();
        // Calls that end within the same hundredth of a second share one timer.
        Assert.InRange(delays.Count, 80, 91);
        Assert.All(delays, d => Assert.InRange(d, 100, 1000));
        Assert.InRange(delays.Min(), 100, 120);
        Assert.InRange(delays.Max(), 980, 1000);

        var balances = Enumerable.Range(0, 1000).Select(_ => network.EnquireAsync(CancellationToken.None)).ToList();
        Assert.All(_time.Delays.Skip(delays.Count), d => Assert.InRange(d.TotalSeconds, 2, 5));
        await _time.RunToEndAsync(Task.WhenAll(payments.Concat(balances)));
    }

    [Fact]
    public void It_waits_on_the_given_clock()
    {
        var network = Network(new JitterOptions
        {
            Enabled = true,
            PaymentMin = TimeSpan.FromSeconds(3),
            PaymentMax = TimeSpan.FromSeconds(3),
        });
        var call = network.AuthoriseAsync(CancellationToken.None);
        _time.Advance(TimeSpan.FromMilliseconds(2999));
        Assert.False(call.IsCompleted);
        _time.Advance(TimeSpan.FromMilliseconds(1));
        Assert.True(call.IsCompletedSuccessfully);
    }

    [Fact]
    public async Task Calls_that_share_a_timer_are_cancelled_individually()
    {
        using var gone = new CancellationTokenSource();
        var network = Network(new JitterOptions { Enabled = true });
        var cancelled = Enumerable.Range(0, 500).Select(_ => network.AuthoriseAsync(gone.Token)).ToList();
        var others = Enumerable.Range(0, 500).Select(_ => network.AuthoriseAsync(CancellationToken.None)).ToList();

        await gone.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => Task.WhenAll(cancelled));
        Assert.All(cancelled, call => Assert.True(call.IsCanceled));
        Assert.All(others, call => Assert.False(call.IsCompleted));

        await _time.RunToEndAsync(Task.WhenAll(others));
    }

    [Fact]
    public void The_same_seed_gives_the_same_delays_and_another_seed_gives_others()
    {
        Assert.Equal(DelaysOf(7), DelaysOf(7));
        Assert.NotEqual(DelaysOf(7), DelaysOf(8));
    }

    [Fact]
    public async Task A_cancelled_call_stops_waiting()
    {
        using var gone = new CancellationTokenSource();
        var call = Network(new JitterOptions { Enabled = true }).AuthoriseAsync(gone.Token);
        await gone.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call);
    }

    [Fact]
    public async Task Calls_above_the_concurrency_limit_wait_and_a_cancelled_one_leaves_the_queue()
    {
        using var gone = new CancellationTokenSource();
        using var network = Network(new JitterOptions { Enabled = true, ConcurrencyMax = 2 });
        var calls = Enumerable.Range(0, 3).Select(_ => network.AuthoriseAsync(CancellationToken.None)).ToList();
        var cancelled = network.AuthoriseAsync(gone.Token);
        Assert.Equal(2, _time.Delays.Count);

        await gone.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled);
        await _time.RunToEndAsync(Task.WhenAll(calls));

        Assert.Equal(3, _time.Delays.Count);
    }

    private static IReadOnlyList<TimeSpan> DelaysOf(int seed)
    {
        var time = new ManualTime();
        var network = new SimulatedCardNetwork(Options.Create(new JitterOptions { Enabled = true, Seed = seed }), time);
        for (var i = 0; i < 50; i++)
        {
            _ = network.AuthoriseAsync(CancellationToken.None);
        }
        return time.Delays;
    }

    private SimulatedCardNetwork Network(JitterOptions options) => new(Options.Create(options), _time);
}
