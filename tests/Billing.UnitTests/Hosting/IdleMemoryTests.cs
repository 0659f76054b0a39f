using Billing.Hosting;
using Billing.UnitTests.Testing;

namespace Billing.UnitTests.Hosting;

public sealed class IdleMemoryTests
{
    [Fact]
    public async Task Garbage_is_collected_once_each_time_that_the_process_becomes_idle()
    {
        const long mib = 1 << 20;
        var time = new ManualTime();
        var allocated = new Queue<long>(
            [0, 100 * mib, 200 * mib, 201 * mib, 202 * mib, 300 * mib, 301 * mib, 301 * mib]);
        var collectedAt = new List<long>();
        var read = new TaskCompletionSource();
        using var supervisor = Supervision.New();
        using var stop = new CancellationTokenSource();
        using var memory = new IdleMemory(
            time, supervisor,
            () =>
            {
                var next = allocated.Dequeue();
                if (allocated.Count == 0)
                {
                    read.SetResult();
                }
                return next;
            },
            () => collectedAt.Add(allocated.Count));

        var watching = memory.RunAsync(stop.Token);
        await time.RunToEndAsync(read.Task);
        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => watching);

        Assert.Equal([4, 1], collectedAt);
    }
}
