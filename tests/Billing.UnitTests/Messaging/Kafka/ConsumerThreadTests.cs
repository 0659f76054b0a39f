using Billing.Hosting;
using Billing.Messaging.Kafka.Clients;
using Billing.UnitTests.Testing;

namespace Billing.UnitTests.Messaging.Kafka;

public sealed class ConsumerThreadTests
{
    private readonly Supervisor _supervisor = Supervision.New();

    [Fact]
    public async Task A_consumer_loop_that_throws_fails_the_process()
    {
        using var thread = new ConsumerThread(_supervisor, "consumer");
        thread.Start(() => throw new KeyNotFoundException("planted"));
        await thread.StopAsync();

        Assert.False(_supervisor.IsHealthy);
    }

    [Fact]
    public async Task A_consumer_loop_that_ends_by_itself_fails_the_process()
    {
        using var thread = new ConsumerThread(_supervisor, "consumer");
        var failing = new TaskCompletionSource();
        await using var registration = _supervisor.Failing.Register(failing.SetResult);
        thread.Start(() => { });
        await failing.Task;
        await thread.StopAsync();

        Assert.False(_supervisor.IsHealthy);
    }

    [Fact]
    public async Task A_consumer_loop_can_be_stopped()
    {
        using var thread = new ConsumerThread(_supervisor, "consumer");
        thread.Start(() => thread.Stopping.WaitHandle.WaitOne());
        await thread.StopAsync();

        Assert.True(_supervisor.IsHealthy);
    }
}
