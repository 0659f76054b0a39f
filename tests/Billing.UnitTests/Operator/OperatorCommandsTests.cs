using System.CommandLine;
using Billing.Cli.Commands;
using Billing.Operator;
using Spectre.Console;

namespace Billing.UnitTests.Operator;

/// <summary>One table has the operators' commands: in their own program and in <c>./billing</c>.</summary>
public sealed class OperatorCommandsTests
{
    private static readonly IAnsiConsole Console =
        AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(TextWriter.Null) });

    private static readonly IReadOnlyList<string> Names =
        [.. OperatorCommands.Create(Console).Select(command => command.Name)];

    [Fact]
    public async Task The_operators_program_lists_the_commands_of_the_table_and_no_others()
    {
        var root = OperatorCommands.CreateRoot(Console);
        using var help = new StringWriter();
        await root.Parse(["--help"]).InvokeAsync(
            new InvocationConfiguration { Output = help }, TestContext.Current.CancellationToken);

        Assert.Equal(Names, root.Subcommands.Select(command => command.Name));
        Assert.All(Names, name => Assert.Contains($"\n  {name} ", help.ToString(), StringComparison.Ordinal));
    }

    [Fact]
    public void Completion_knows_the_commands_of_the_table() => Assert.Subset(
        OperatorCommands.CreateRoot(Console).Parse("").GetCompletions().Select(completion => completion.Label)
            .ToHashSet(),
        Names.ToHashSet());

    [Fact]
    public void The_command_line_of_a_clone_has_them_all() => Assert.Subset(
        BillingCommand.Create(Console).Subcommands.Select(command => command.Name).ToHashSet(), Names.ToHashSet());

    [Theory]
    [InlineData("backfill")]
    [InlineData("mutants")]
    [InlineData("bench")]
    [InlineData("simulate")]
    [InlineData("chaos")]
    [InlineData("run")]
    [InlineData("up")]
    [InlineData("package")]
    public void The_laboratory_is_not_in_the_operators_program(string command) =>
        Assert.NotEmpty(OperatorCommands.CreateRoot(Console).Parse([command]).Errors);
}
