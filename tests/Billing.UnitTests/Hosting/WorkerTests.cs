using Billing.Hosting;
using Billing.UnitTests.Testing;

namespace Billing.UnitTests.Hosting;

public sealed class WorkerTests
{
    private readonly Supervisor _supervisor = Supervision.New();

    [Fact]
    public async Task A_consumer_loop_that_throws_fails_the_process()
    {
        using var worker = new Consumer(_supervisor, _ => throw new KeyNotFoundException("planted"));
        await worker.StartAsync(CancellationToken.None);
        await worker.StopAsync(CancellationToken.None);

        Assert.False(_supervisor.IsHealthy);
    }

    [Fact]
    public async Task A_consumer_loop_that_ends_by_itself_fails_the_process()
    {
        using var worker = new Consumer(_supervisor, _ => { });
        var failing = new TaskCompletionSource();
        await using var registration = _supervisor.Failing.Register(failing.SetResult);
        await worker.StartAsync(CancellationToken.None);
        await failing.Task;
        await worker.StopAsync(CancellationToken.None);

        Assert.False(_supervisor.IsHealthy);
    }

    [Fact]
    public async Task A_consumer_loop_can_be_stopped()
    {
        using var worker = new Consumer(_supervisor, stopping => stopping.WaitHandle.WaitOne());
        await worker.StartAsync(CancellationToken.None);
        await worker.StopAsync(CancellationToken.None);

        Assert.True(_supervisor.IsHealthy);
    }

    [Fact]
    public async Task A_loop_that_was_not_stopped_ends_when_its_worker_is_disposed_of()
    {
        var ended = new TaskCompletionSource();
        var worker = new Consumer(_supervisor, stopping =>
        {
            stopping.WaitHandle.WaitOne();
            ended.SetResult();
        });
        await worker.StartAsync(CancellationToken.None);
        worker.Dispose();
        await ended.Task;

        Assert.True(_supervisor.IsHealthy);
    }

    private sealed class Consumer(Supervisor supervisor, Action<CancellationToken> loop) : Worker(supervisor)
    {
        public override Task RunAsync(CancellationToken stopping) => RunOnThread(() => loop(stopping));
    }
}
