using Billing.LocalStack.Processes;

namespace Billing.IntegrationTests.StackTests;

public sealed class ControlGroupTests
{
    [Fact]
    public async Task A_process_gets_no_more_processor_time_than_its_group_and_the_group_goes_when_it_has_ended()
    {
        Assert.SkipUnless(Environment.IsPrivilegedProcess, "Only root can create control groups.");
        await using var folder = StackFolder.Create();
        var parent = $"billing-test-{Environment.ProcessId}";
        var group = ControlGroup.OfProcessors(parent, "busy", 0.1);
        try
        {
            await using (var busy = ChildProcess.Start(new ChildProcessStart(
                "busy", "sh",
                ["-c", $"{string.Join("; ", group.Members.Select(file => $"echo $$ > {file}"))}; while :; do :; done"],
                folder.LogFile("busy"))))
            {
                await busy.WaitUntilAsync(
                    _ => Task.FromResult(Throttled(group) > 2), Patience, TestContext.Current.CancellationToken);
                ControlGroup.RemoveEmpty(parent);
                Assert.All(group.Members, file => Assert.True(File.Exists(file)));
            }

            ControlGroup.RemoveEmpty(parent);

            Assert.All(group.Members, file => Assert.False(File.Exists(file)));
        }
        finally
        {
            await ControlGroup.RemoveAsync(parent);
        }
    }

    // Periods in which the group had used up its time. https://docs.kernel.org/admin-guide/cgroup-v2.html, cpu.stat
    private static long Throttled(ControlGroup group) => group.Members
        .Select(file => Path.Combine(Path.GetDirectoryName(file)!, "cpu.stat")).Where(File.Exists)
            .SelectMany(File.ReadLines)
        .Where(line => line.StartsWith("nr_throttled ", StringComparison.Ordinal))
        .Sum(line => long.Parse(line.Split(' ')[1]));
}
