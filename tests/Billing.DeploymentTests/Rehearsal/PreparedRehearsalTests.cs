using System.CommandLine;
using Billing.Cli.Setup;
using Billing.LocalStack.Processes;
using Billing.Rehearsal;
using Billing.Rehearsal.Preparation;
using Spectre.Console;

namespace Billing.DeploymentTests.Rehearsal;

public sealed class PreparedRehearsalTests
{
    [Theory]
    [InlineData("0.1.0", "0.1.1")]
    [InlineData("1.2.9", "1.2.10")]
    [InlineData("1.2.3-rc.1", "1.2.4")]
    public void The_second_release_has_the_next_version(string version, string next) =>
        Assert.Equal(next, PreparedRehearsal.NextVersion(version));

    [Fact]
    public async Task A_former_release_that_is_none_is_refused_before_anything_is_built()
    {
        Assert.SkipUnless(Environment.IsPrivilegedProcess, "rehearse needs root");

        var refused = await Assert.ThrowsAsync<StackException>(
            () => new PreparedRehearsal(new Workspace("", "", "", ""))
                .RunAsync([], Path.GetTempPath(), isShort: false, TestContext.Current.CancellationToken));

        Assert.Contains("contains no release", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Wrong_flags_are_refused_before_anything_else()
    {
        using var errors = new StringWriter();
        var console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(TextWriter.Null) });

        var exitCode = await RehearseCommand.Create(console).Parse(["--requests", "1"])
            .InvokeAsync(
                new InvocationConfiguration { Output = TextWriter.Null, Error = errors },
                TestContext.Current.CancellationToken);

        Assert.Equal(1, exitCode);
        Assert.StartsWith("--requests must be between 100 and 1000000", errors.ToString(), StringComparison.Ordinal);
    }
}
