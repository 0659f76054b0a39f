using System.Globalization;
using Billing.LocalStack.Processes;

namespace Billing.IntegrationTests.StackTests;

[Collection(SequentialStackTests.Name)]
public sealed class ChildProcessTests : IAsyncLifetime
{
    private readonly StackFolder _folder = StackFolder.Create();

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    public ValueTask InitializeAsync() => ValueTask.CompletedTask;

    public ValueTask DisposeAsync() => _folder.DisposeAsync();

    [Fact]
    public async Task A_program_is_ready_when_a_line_of_its_output_matches()
    {
        await using var child = Start("echo starting; echo ready for you; exec sleep 600");
        await child.WaitForOutputAsync(line => line == "ready for you", Patience, Cancellation);
        Assert.False(child.HasExited);
        Assert.Equal(["starting", "ready for you"], child.LastLogLines(5));
    }

    [Fact]
    public async Task A_program_that_ends_before_it_is_ready_is_reported_with_its_exit_code_and_last_output()
    {
        await using var child = Start("echo out of luck >&2; exit 7");
        var failure = await Assert.ThrowsAsync<StackException>(
            () => child.WaitForOutputAsync(_ => false, Patience, Cancellation));
        Assert.Contains("example ended with exit code 7", failure.Message, StringComparison.Ordinal);
        Assert.Contains("out of luck", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_missing_program_is_named_in_the_error()
    {
        var start = new ChildProcessStart("example", "/nowhere/example", [], _folder.LogFile("example"));
        var failure = await Assert.ThrowsAsync<StackException>(
            () => ChildProcess.RunAsync(start, Patience, Cancellation));
        Assert.Contains("/nowhere/example", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_program_that_ends_on_request_is_not_killed()
    {
        await using var child = Start("trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.1; done");
        await child.WaitForOutputAsync(line => line == "ready", Patience, Cancellation);
        Assert.True(await child.StopAsync(Patience));
        Assert.Equal(0, child.ExitCode);
    }

    [Fact]
    public async Task A_program_that_ignores_the_request_to_end_is_killed()
    {
        await using var child = Start("trap '' TERM; echo ready; while :; do sleep 0.1; done");
        await child.WaitForOutputAsync(line => line == "ready", Patience, Cancellation);
        Assert.False(await child.StopAsync(TimeSpan.FromMilliseconds(200)));
        Assert.Equal(128 + (int)Signal.Kill, child.ExitCode);
    }

    /// <summary>As the shell has its jobs in the background do. The one that ignores is a second process of
    /// this test program.</summary>
    [Fact]
    public async Task A_program_can_be_interrupted_although_the_one_that_starts_it_ignores_that()
    {
        var ignoring = new ChildProcessStart(
            "ignoring", "/bin/sh",
            [
                "-c", "trap '' INT && exec \"$0\" \"$@\"", Environment.ProcessPath!,
                "-explicit", "only", "-method", $"{typeof(ChildProcessTests).FullName}.{nameof(Interrupts_a_program)}",
            ],
            _folder.LogFile("ignoring"));

        await ChildProcess.RunAsync(ignoring, Patience, Cancellation);
    }

    [Fact(Explicit = true)]
    public async Task Interrupts_a_program()
    {
        await using var child = Start("trap 'exit 3' INT; echo ready; while :; do sleep 0.1; done");
        await child.WaitForOutputAsync(line => line == "ready", Patience, Cancellation);
        child.Send(Signal.Interrupt);
        await child.WaitForExitAsync(Cancellation).WaitAsync(Patience, Cancellation);
        Assert.Equal(3, child.ExitCode);
    }

    [Fact]
    public async Task A_paused_program_is_stopped_until_it_is_resumed()
    {
        await using var child = Start("echo ready; exec sleep 600");
        await child.WaitForOutputAsync(line => line == "ready", Patience, Cancellation);
        child.Pause();
        await child.WaitUntilAsync(_ => Task.FromResult(StateOf(child.Id) == "T"), Patience, Cancellation);
        child.Resume();
        await child.WaitUntilAsync(_ => Task.FromResult(StateOf(child.Id) == "S"), Patience, Cancellation);
    }

    [Fact]
    public async Task A_program_has_its_own_session_so_that_Ctrl_C_does_not_reach_it()
    {
        await using var child = Start("echo ready; exec sleep 600");
        await child.WaitForOutputAsync(line => line == "ready", Patience, Cancellation);
        const int ProcessGroup = 2, Session = 3;
        Assert.Equal(child.Id.ToString(CultureInfo.InvariantCulture), StatusOf(child.Id)[ProcessGroup]);
        Assert.Equal(child.Id.ToString(CultureInfo.InvariantCulture), StatusOf(child.Id)[Session]);
    }

    [Fact]
    public async Task A_program_is_stopped_by_disposal()
    {
        var child = Start("exec sleep 600");
        await child.DisposeAsync();
        Assert.False(child.Identity.IsRunning);
    }

    [Fact]
    public async Task A_detached_program_survives_disposal_and_can_be_stopped_by_its_identity()
    {
        var child = ChildProcess.Start(Shell("exec sleep 600") with { Detached = true });
        await child.DisposeAsync();
        Assert.True(child.Identity.IsRunning);
        var written = new ProcessIdentity(child.Identity.Id, child.Identity.StartTicks);
        await written.StopAsync(Signal.Terminate, Patience);
        Assert.False(written.IsRunning);
    }

    private static string StateOf(int processId) => StatusOf(processId)[0];

    private static string[] StatusOf(int processId)
    {
        var stat = File.ReadAllText(string.Create(CultureInfo.InvariantCulture, $"/proc/{processId}/stat"));
        return stat[(stat.LastIndexOf(')') + 2)..].Split(' ');
    }

    private ChildProcessStart Shell(string script) =>
        new("example", "/bin/sh", ["-c", script], _folder.LogFile("example"));

    private ChildProcess Start(string script) => ChildProcess.Start(Shell(script));
}
