using System.CommandLine;
using Billing.Cli.Commands;
using Billing.Rehearsal;
using Spectre.Console;

namespace Billing.DeploymentTests;

/// <summary>What <c>./billing</c> answers to a command line without a build, in a copy that only has its scripts,
/// and how its program refuses a wrong one.</summary>
public sealed class CommandLines : IDisposable
{
    // If this environment variable is set, eng/help.txt is written before it is compared.
    private const string WriteVariable = "BILLING_WRITE_HELP";

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
    [InlineData("there is no command 'runn'; ./billing --help lists them", "runn")]
    [InlineData("a command is missing")]
    public async Task A_command_that_does_not_exist_is_refused_and_nothing_is_created(
        string message, params string[] arguments)
    {
        var result = await ExternalTool.RunAsync("/bin/bash", [Path.Combine(_copy.FullName, "billing"), .. arguments]);

        Assert.Equal(1, result.ExitCode);
        Assert.Contains("billing: " + message, result.Errors, StringComparison.Ordinal);
        Assert.False(Directory.Exists(Path.Combine(_copy.FullName, ".billing")));
    }

    [Theory]
    [InlineData("'paymnts'", "load", "paymnts", "--rate", "5")]
    [InlineData("Required command was not provided", "load")]
    [InlineData("'--jiter'", "run", "--jiter", "on")]
    [InlineData("--jitter must be on or off; it is maybe", "run", "--jitter=maybe")]
    [InlineData("--requests must be between 1 and 10000000; it is many", "run", "--requests", "many")]
    [InlineData("Required argument missing for option: '--requests'", "run", "--requests")]
    [InlineData("'now'", "status", "now")]
    [InlineData("There are no tests called 'Billing.Nope'; there are Billing.ChaosTests, ", "test", "Billing.Nope")]
    [InlineData("There are no tests called '--slow'", "test", "--slow")]
    [InlineData("--fuzz must be between 0.01 and 10000; it is 0", "test", "--fuzz", "0")]
    [InlineData("--fuzz chooses the tests itself", "test", "--fuzz", "1", "--fast")]
    [InlineData("--fuzz chooses the tests itself", "test", "Billing.UnitTests", "--fuzz", "1")]
    [InlineData("--zone-delay must be between", "rehearse", "--zone-delay", "far")]
    [InlineData("--shape: there is no shape 'all'; the attacks are connected, ", "misuse", "--shape", "all")]
    [InlineData("Required argument missing for option: '--output'", "package", "--output")]
    [InlineData("Required argument missing for option: '--version'", "package", "--version")]
    [InlineData("--timestamper is for --sign", "package", "--timestamper", "http://timestamp.example")]
    [InlineData("--timestamper must be a URL; it is here", "package", "--sign", "a.pfx", "--timestamper", "here")]
    [InlineData("'--outptu'", "package", "--outptu", "here")]
    public void An_invalid_command_line_is_refused_with_the_name_of_what_is_wrong(
        string message, params string[] arguments)
    {
        var console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(TextWriter.Null) });

        var errors = BillingCommand.Create(console, RehearseCommand.Create(console)).Parse(arguments).Errors;

        Assert.Contains(errors, error => error.Message.Contains(message, StringComparison.Ordinal));
    }

    [Fact]
    public async Task The_list_of_commands_is_printed_and_nothing_is_created()
    {
        var result = (await ExternalTool.RunAsync("/bin/bash", [Path.Combine(_copy.FullName, "billing"), "--help"]))
            .Succeeded();

        Assert.Contains("  rehearse ", result.Output, StringComparison.Ordinal);
        Assert.False(Directory.Exists(Path.Combine(_copy.FullName, ".billing")));
    }

    [Fact]
    public async Task The_list_of_commands_is_that_of_the_programs()
    {
        var console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(TextWriter.Null) });
        using var output = new StringWriter { NewLine = "\n" };
        await BillingCommand.Create(console, RehearseCommand.Create(console)).Parse("--help").InvokeAsync(
            new InvocationConfiguration { Output = output }, TestContext.Current.CancellationToken);

        var file = Path.Combine(Repository.Root, "eng", "help.txt");
        if (Environment.GetEnvironmentVariable(WriteVariable) is { Length: > 0 })
        {
            await File.WriteAllTextAsync(
                file, output.ToString().TrimEnd() + "\n", TestContext.Current.CancellationToken);
        }

        Assert.Equal(
            output.ToString().TrimEnd() + "\n",
            await File.ReadAllTextAsync(file, TestContext.Current.CancellationToken));
    }
}
