using System.Diagnostics;
using Billing.Measuring.Processes;

namespace Billing.UnitTests.Measuring;

public sealed class CpuClockTests
{
    [Fact]
    public void Spaces_and_brackets_in_a_process_name_are_parsed()
    {
        var cpu = CpuClock.Parse("4321 ((a) b (c)) S 17 4321 4321 0 -1 4194304 1 2 3 4 150 50 25 75 20 0 8 0 100 200");

        Assert.Equal(new ProcessCpu(17, 2, 1), cpu);
    }

    [Fact]
    public void The_processor_time_of_a_child_process_counts_for_its_parent()
    {
        var shell = new[] { ("shell", Environment.ProcessId) };
        var before = new CpuMeter(shell);
        using (var child = Process.Start("/bin/sh", ["-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"]))
        {
            child.WaitForExit();
        }

        Assert.True(before.Elapsed()["shell"] > 0);
    }

    [Fact]
    public async Task A_process_that_ends_does_not_reduce_the_time_of_others_with_its_name()
    {
        const string Busy = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo done; read end";
        using var killed = Shell(Busy);
        using var other = Shell("read begin; " + Busy);
        await killed.StandardOutput.ReadLineAsync(TestContext.Current.CancellationToken);
        var meter = new CpuMeter([("shell", killed.Id), ("shell", other.Id)]);

        killed.Kill();
        await killed.WaitForExitAsync(TestContext.Current.CancellationToken);
        await other.StandardInput.WriteLineAsync();
        await other.StandardOutput.ReadLineAsync(TestContext.Current.CancellationToken);
        var elapsed = meter.Elapsed();
        other.Kill();

        Assert.True(elapsed["shell"] > 0);
    }

    [Fact]
    public void A_program_that_has_ended_is_left_out() =>
        Assert.Empty(new CpuMeter([("gone", int.MaxValue)]).Elapsed());

    private static Process Shell(string script) => Process.Start(
        new ProcessStartInfo(
            "/bin/sh", ["-c", script])
        { RedirectStandardInput = true, RedirectStandardOutput = true })!;
}
