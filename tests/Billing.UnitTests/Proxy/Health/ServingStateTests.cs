using Billing.Proxy.Health;
using static Billing.Contracts.Health.V1.HealthCheckResponse.Types;

namespace Billing.UnitTests.Proxy.Health;

public sealed class ServingStateTests
{
    private readonly ServingState _state = new();

    [Fact]
    public void At_the_start_the_process_is_known_and_not_serving() =>
        Assert.Equal(ServingStatus.NotServing, _state.Find(""));

    [Fact]
    public void A_service_that_was_never_set_is_unknown()
    {
        Assert.Null(_state.Find("billing.v1.Billing"));
        _state.SetServing("billing.v1.Billing");
        Assert.Equal(ServingStatus.Serving, _state.Find("billing.v1.Billing"));
        Assert.Equal(2, _state.Snapshot().Count);
    }

    [Fact]
    public async Task A_watch_begins_with_the_current_state_and_reports_each_change()
    {
        await using var watch = _state.Watch("a").GetAsyncEnumerator();
        Assert.Equal(ServingStatus.ServiceUnknown, await NextAsync(watch));
        _state.SetServing("a");
        Assert.Equal(ServingStatus.Serving, await NextAsync(watch));
        _state.SetServing("other");
        _state.SetNotServing("a");
        Assert.Equal(ServingStatus.NotServing, await NextAsync(watch));
    }

    [Fact]
    public async Task A_slow_watch_skips_to_the_latest_state()
    {
        await using var watch = _state.Watch("").GetAsyncEnumerator();
        Assert.Equal(ServingStatus.NotServing, await NextAsync(watch));
        _state.SetServing();
        _state.SetNotServing();
        _state.SetServing();
        Assert.Equal(ServingStatus.Serving, await NextAsync(watch));
        var next = watch.MoveNextAsync().AsTask();
        Assert.False(next.IsCompleted);
        _state.SetNotServing();
        Assert.True(await next);
    }

    [Fact]
    public async Task A_watch_ends_when_its_token_is_cancelled()
    {
        using var stop = new CancellationTokenSource();
        await using var watch = _state.Watch("", stop.Token).GetAsyncEnumerator(stop.Token);
        Assert.Equal(ServingStatus.NotServing, await NextAsync(watch));
        var next = watch.MoveNextAsync().AsTask();
        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => next);
    }

    private static async Task<ServingStatus> NextAsync(IAsyncEnumerator<ServingStatus> watch)
    {
        Assert.True(await watch.MoveNextAsync());
        return watch.Current;
    }
}
