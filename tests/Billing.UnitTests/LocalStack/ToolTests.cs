using Billing.LocalStack.Processes;

namespace Billing.UnitTests.LocalStack;

public sealed class ToolTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("billing-tool-");

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Delete(recursive: true);

    [Fact]
    public async Task A_program_gets_arguments_input_folder_and_environment()
    {
        var tool = new Tool("sh", "-c", "cat; printf ' %s %s %s' \"$0\" \"$WORD\" \"$PWD\"")
        {
            Folder = _folder.FullName,
            Environment = new Dictionary<string, string> { ["WORD"] = "word" },
        };

        Assert.Equal($"input argument word {_folder.FullName}", await tool.RunAsync(["argument"], Token, "input"));
    }

    [Fact]
    public async Task A_program_that_fails_is_named_with_its_exit_code_and_output()
    {
        var e = await Assert.ThrowsAsync<StackException>(
            () => new Tool("sh", "-c").RunAsync(["echo wrong >&2; exit 3"], Token));

        Assert.Equal("sh -c echo wrong >&2; exit 3 failed with exit code 3: wrong", e.Message);
    }

    [Fact]
    public async Task A_program_that_is_missing_is_named()
    {
        var e = await Assert.ThrowsAsync<StackException>(() => new Tool("billing-nowhere").RunAsync([], Token));

        Assert.StartsWith("billing-nowhere could not be started: ", e.Message, StringComparison.Ordinal);
        Assert.Null(Tool.Find("billing-nowhere"));
        Assert.NotNull(Tool.Find("sh"));
    }

    [Fact]
    public async Task Output_is_appended_to_a_log()
    {
        var log = Path.Combine(_folder.FullName, "log");
        await File.WriteAllTextAsync(log, "before\n", Token);

        Assert.Equal(4, await new Tool("sh", "-c").LogAsync(["echo output; echo error >&2; exit 4"], log, Token));

        Assert.Equal("before\noutput\nerror\n", await File.ReadAllTextAsync(log, Token));
    }

    [Fact]
    public async Task A_program_with_the_terminal_of_this_process_is_asked_to_end_and_may_finish()
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var ready = Path.Combine(_folder.FullName, "ready");

        var run = new Tool("sh", "-c", "trap 'exit 7' TERM; touch \"$0\"; while :; do sleep 0.1; done")
            .PassThroughAsync([ready], stop.Token);
        await Poll.UntilAsync(() => File.Exists(ready) || run.IsCompleted, Token);
        await stop.CancelAsync();

        Assert.Equal(7, await run);
    }
}
