using Billing.LocalStack.Postgres;
using Billing.LocalStack.Processes;

namespace Billing.IntegrationTests.StackTests;

/// <summary>The clean-up of a stack whose owner is killed. The owner is a second process of
/// this test program.</summary>
[Collection(SequentialStackTests.Name)]
public sealed class ParentDeathTests
{
    private const string ReportVariable = "BILLING_TEST_OWNER_REPORT";

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Fact]
    public async Task No_process_or_folder_outlives_a_killed_owner()
    {
        await using var folder = StackFolder.Create();
        var report = Path.Combine(folder.FullName, "report");
        await using var owner = ChildProcess.Start(new ChildProcessStart(
            "owner",
            Environment.ProcessPath!,
            [
                "-explicit", "only", "-method",
                $"{typeof(ParentDeathTests).FullName}.{nameof(Owns_a_stack_until_killed)}",
            ],
            folder.LogFile("owner"))
        {
            Environment = new Dictionary<string, string?> { [ReportVariable] = report },
        });
        await owner.WaitUntilAsync(_ => Task.FromResult(File.Exists(report)), Patience, Cancellation);
        var lines = await File.ReadAllLinesAsync(report, Cancellation);
        ProcessIdentity[] children = [.. lines.Skip(1).Select(Parse)];
        Assert.Equal(2, children.Length);
        Assert.All(children, child => Assert.True(child.IsRunning));

        owner.Kill();
        foreach (var child in children)
        {
            await child.WaitForEndAsync(Cancellation).WaitAsync(Patience, Cancellation);
        }

        await Poll.UntilAsync(() => !Directory.Exists(lines[0]));
    }

    [Fact(Explicit = true)]
    public async Task Owns_a_stack_until_killed()
    {
        var report = Environment.GetEnvironmentVariable(ReportVariable);
        Assert.SkipWhen(string.IsNullOrEmpty(report), "The test above runs this test and kills it");
        await using var folder = StackFolder.Create();
        using var ports = new FreePorts();
        await using var postgres = await LocalPostgres.StartNewAsync(folder, ports, cancellationToken: Cancellation);
        await using var other = ChildProcess.Start(
            new ChildProcessStart("sleep", "sleep", ["600"], folder.LogFile("sleep")));
        await File.WriteAllLinesAsync(
            report + ".new", [folder.FullName, Write(postgres.Process!.Identity), Write(other.Identity)], Cancellation);
        File.Move(report + ".new", report!);
        await Task.Delay(Timeout.InfiniteTimeSpan, Cancellation);
    }

    private static string Write(ProcessIdentity identity) => FormattableString.Invariant(
        $"{identity.Id} {identity.StartTicks}");

    private static ProcessIdentity Parse(string line)
    {
        long[] numbers = [.. line.Split(' ').Select(long.Parse)];
        return new ProcessIdentity((int)numbers[0], numbers[1]);
    }
}
