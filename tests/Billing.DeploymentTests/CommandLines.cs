namespace Billing.DeploymentTests;

/// <summary>The checks of <c>./billing</c> on its command line before it installs, downloads or builds anything, in a copy that
/// only has its scripts.</summary>
public sealed class CommandLines : IDisposable
{
    private readonly DirectoryInfo _copy = Directory.CreateTempSubdirectory("billing-scripts-");

    public CommandLines()
    {
        foreach (var file in Repository.Files("eng", "*").Append("billing"))
        {
            var copy = Path.Combine(_copy.FullName, file);
            Directory.CreateDirectory(Path.GetDirectoryName(copy)!);
            File.Copy(Path.Combine(Repository.Root, file), copy);
        }
    }

    public void Dispose() => _copy.Delete(recursive: true);

    [Theory]
    [InlineData("./billing has no command 'runn'; it has run, chaos,", "runn")]
    [InlineData("./billing load has no command 'paymnts'; it has payments,", "load", "paymnts", "--rate", "5")]
    [InlineData("./billing load needs a command: payments,", "load")]
    [InlineData("./billing run has no option --jiter; it has --balance-backends,", "run", "--jiter", "on")]
    [InlineData("--jitter takes one of on|off; it is 'maybe'", "run", "--jitter=maybe")]
    [InlineData("--requests takes a whole number; it is 'many'", "run", "--requests", "many")]
    [InlineData("--requests needs a value: <N>", "run", "--requests")]
    [InlineData("./billing status takes no argument 'now'", "status", "now")]
    [InlineData("there are no tests called 'Billing.Nope'", "test", "Billing.Nope")]
    [InlineData("./billing test has no option --slow; it has --fast, --help,", "test", "--slow")]
    [InlineData("--zone-delay takes a whole number; it is 'far'", "rehearse", "--zone-delay", "far")]
    [InlineData("--output needs a value: <FOLDER>", "package", "--output")]
    [InlineData("--version needs a value: <V>", "package", "--version")]
    [InlineData("./billing package has no option --outptu; it has --architectures,", "package", "--outptu", "here")]
    public async Task An_invalid_command_line_is_rejected_and_nothing_is_created(string message, params string[] arguments)
    {
        var result = await ExternalTool.RunAsync("/bin/bash", [Path.Combine(_copy.FullName, "billing"), .. arguments]);

        Assert.Equal(1, result.ExitCode);
        Assert.Contains("billing: " + message, result.Errors, StringComparison.Ordinal);
        Assert.False(Directory.Exists(Path.Combine(_copy.FullName, ".billing")));
    }

    [Theory]
    [InlineData("--requests <N>", "run", "--help")]
    [InlineData("dead-letters", "--help")]
    [InlineData("billing dead-letters list [options]", "dead-letters", "list", "-h")]
    [InlineData("  rehearse ", "--help")]
    [InlineData("--fast", "test", "--help")]
    [InlineData("--fast", "test", "Billing.UnitTests", "-?")]
    [InlineData("BenchmarkDotNet", "bench", "-h")]
    [InlineData("--architectures <LIST>", "package", "--help")]
    [InlineData("--zone-delay <N>", "rehearse", "--help")]
    public async Task Help_is_printed_and_nothing_is_created(string text, params string[] arguments)
    {
        var result = (await ExternalTool.RunAsync("/bin/bash", [Path.Combine(_copy.FullName, "billing"), .. arguments])).Succeeded();

        Assert.Contains(text, result.Output, StringComparison.Ordinal);
        Assert.False(Directory.Exists(Path.Combine(_copy.FullName, ".billing")));
    }
}
