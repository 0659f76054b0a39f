using Billing.LocalStack.Processes;
using Billing.Measuring;
using Billing.Reporting;

namespace Billing.UnitTests.Measuring;

public sealed class ProcessClockTests
{
    [Fact]
    public void A_process_has_used_what_it_says_that_it_has_used()
    {
        var clock = new ProcessClock(Environment.ProcessId);
        var work = TimeSpan.FromMilliseconds(50);
        var (before, saidBefore) = (clock.Used(), Environment.CpuUsage.TotalTime);
        while (Environment.CpuUsage.TotalTime - saidBefore < work)
        {
        }
        // The kernel tells a process of its own time with what it can split into user and system, so not to the microsecond.
        Assert.True(clock.Used() - before > work / 2);
    }

    [Fact]
    public void A_process_that_is_not_there_has_no_processor_time()
    {
        var e = Assert.Throws<StackException>(() => new ProcessClock(int.MaxValue - 1).Used());
        Assert.Contains("process 2147483646", e.Message, StringComparison.Ordinal);
    }
}
