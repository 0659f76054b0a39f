using Billing.LocalStack.Processes;
using Billing.Measuring.Processes;
using Billing.Reporting;

namespace Billing.UnitTests.Measuring;

public sealed class ProcessClockTests
{
    [Fact]
    public void The_processor_time_equals_the_one_that_the_process_reports()
    {
        var clock = new ProcessClock(Environment.ProcessId);
        var work = TimeSpan.FromMilliseconds(50);
        var (before, reportedBefore) = (clock.Used(), Environment.CpuUsage.TotalTime);
        while (Environment.CpuUsage.TotalTime - reportedBefore < work)
        {
        }
        // The kernel splits the time that a process reads about itself into user and system time, which is not exact
        // to the microsecond.
        Assert.True(clock.Used() - before > work / 2);
    }

    [Fact]
    public void Reading_the_processor_time_of_a_missing_process_fails_with_its_id()
    {
        var e = Assert.Throws<StackException>(() => new ProcessClock(int.MaxValue - 1).Used());
        Assert.Contains("process 2147483646", e.Message, StringComparison.Ordinal);
    }
}
